#include "record/sharded_safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include "hpcboot/error.hpp"
#include "json/bounded_json.hpp"
#include "record/atomic_file.hpp"
#include "record/json_values.hpp"
#include "record/safetensors_format.hpp"

namespace hpcboot::record {
namespace {

constexpr const char* kMetadata = "metadata";
constexpr const char* kTotalSize = "total_size";
constexpr const char* kWeightMap = "weight_map";

Error malformed(const std::filesystem::path& index, std::string found, std::string expected) {
  return Error(ErrorCode::malformed_file, fmt::format("'{}' {}", index.string(), found),
               std::move(expected), "use all files of a complete folder");
}

/// The file of each tensor by a weight_map.
std::map<std::string, std::string> file_names(const std::filesystem::path& index, const Json& map) {
  std::map<std::string, std::string> names;
  for (const auto& [tensor, file] : map.items()) {
    std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || std::filesystem::path(name).filename() != name || name == "..") {
      throw malformed(index, fmt::format("has tensor '{}' in file '{}'", tensor, name),
                      "the name of a file in the same folder");
    }
    names.emplace(tensor, std::move(name));
  }
  return names;
}

/// The texts that all files have.
std::map<std::string, std::string> common_metadata(const std::vector<SafetensorsFile>& files) {
  std::map<std::string, std::string> common = files.front().metadata();
  common.erase(kChecksumKey);
  for (const SafetensorsFile& file : files) {
    for (auto text = common.begin(); text != common.end();) {
      const auto found = file.metadata().find(text->first);
      const bool is_equal = found != file.metadata().end() && found->second == text->second;
      text = is_equal ? std::next(text) : common.erase(text);
    }
  }
  return common;
}

void write_tensors(const std::filesystem::path& file, const StoredTensors& source,
                   std::vector<TensorHeader> headers) {
  SafetensorsWriter target(file, std::move(headers), source.metadata);
  std::vector<char> data;
  for (const TensorHeader& tensor : target.tensors()) {
    source.read(tensor.name, data);
    target.write(data.data(), data.size());
  }
  target.commit();
}

}  // namespace

std::string shard_file_name(const std::string& stem, int number, int count) {
  return fmt::format("{}-{:05}-of-{:05}.safetensors", stem, number + 1, count);
}

std::string index_file_name(const std::string& stem) {
  return stem + ".safetensors.index.json";
}

std::optional<std::filesystem::path> folder_of_model(const std::filesystem::path& place) {
  const std::string index = index_file_name(kModelStem);
  if (place.filename() == index) return place.parent_path();
  std::error_code ignored;  // reading tells what is wrong
  return std::filesystem::exists(place / index, ignored) ? std::optional(place) : std::nullopt;
}

void write_index(const std::filesystem::path& folder, const std::string& stem, int count,
                 const std::map<std::string, std::string>& metadata) {
  std::uint64_t bytes = 0;
  std::map<std::string, std::string> files;  // sorted, as others write it
  for (int number = 0; number < count; ++number) {
    const std::string name = shard_file_name(stem, number, count);
    const SafetensorsFile file(folder / name);
    for (const TensorInfo& tensor : file.tensors()) {
      bytes += tensor.end - tensor.begin;
      if (!files.emplace(tensor.name, name).second) {
        throw malformed(folder / name, fmt::format("has tensor '{}', as another file", tensor.name),
                        "each tensor in one file");
      }
    }
  }
  JsonMembers texts;
  for (const auto& [key, text] : metadata) texts[key] = text;
  texts[kTotalSize] = bytes;
  JsonMembers map;
  for (const auto& [tensor, file] : files) map[tensor] = file;
  const Json index = {{kMetadata, texts.take()}, {kWeightMap, map.take()}};
  write_file_atomically(folder / index_file_name(stem), json_text(index, 2).str() + "\n");
}

ShardedSafetensors::ShardedSafetensors(const std::filesystem::path& folder, const std::string& stem,
                                       DTypesTaken taken) {
  const std::filesystem::path path = folder / index_file_name(stem);
  const Json index = read_json_file(path, {std::size_t{1} << 30U, 8, 20'000'000});
  const auto map = index.find(kWeightMap);
  if (!index.is_object() || map == index.end() || !map->is_object()) {
    throw malformed(path, "has no weight_map", "the index of a model in several files");
  }
  if (const auto texts = index.find(kMetadata); texts != index.end() && texts->is_object()) {
    for (const auto& [key, text] : texts->items()) {
      if (text.is_string()) metadata_[key] = text.get<std::string>();
    }
  }
  const std::map<std::string, std::string> file_name_of = file_names(path, *map);
  std::set<std::string> names;
  for (const auto& [tensor, file] : file_name_of) names.insert(file);
  for (const std::string& name : names) {
    files_.emplace_back(folder / name, taken);
    for (const TensorInfo& tensor : files_.back().tensors()) {
      const auto listed = file_name_of.find(tensor.name);
      if (listed == file_name_of.end() || listed->second != name) {
        throw malformed(path, fmt::format("lacks tensor '{}' of {}", tensor.name, name),
                        "every tensor of every file");
      }
      tensors_.emplace(tensor.name, tensor);
      file_of_.emplace(tensor.name, files_.size() - 1);
    }
  }
  for (const auto& [name, file] : file_name_of) {
    if (tensors_.count(name) == 0) {
      throw malformed(path, fmt::format("has tensor '{}' in {}", name, file),
                      "a tensor that is in that file");
    }
  }
}

void ShardedSafetensors::read(const std::string& name, void* destination) const {
  files_[file_of_.at(name)].read(tensors_.at(name), destination);
}

void ShardedSafetensors::read_part(const std::string& name, std::uint64_t offset,
                                   std::uint64_t size, void* destination) const {
  files_[file_of_.at(name)].read_part(tensors_.at(name), offset, size, destination);
}

StoredTensors tensors_of_file(const std::filesystem::path& file, const std::string& prefix) {
  const auto source = std::make_shared<SafetensorsFile>(file);
  std::map<std::string, const TensorInfo*> by_name;
  StoredTensors tensors;
  for (const TensorInfo& tensor : source->tensors()) {
    if (tensor.name.compare(0, prefix.size(), prefix) != 0) continue;
    tensors.headers.push_back({tensor.name.substr(prefix.size()), tensor.dtype, tensor.shape});
    by_name.emplace(tensors.headers.back().name, &tensor);
  }
  tensors.metadata = source->metadata();
  tensors.metadata.erase(kChecksumKey);
  tensors.read = [source, by_name](const std::string& name, std::vector<char>& data) {
    const TensorInfo& tensor = *by_name.at(name);
    data.resize(tensor.end - tensor.begin);
    source->read(tensor, data.data());
  };
  return tensors;
}

StoredTensors tensors_of_index(const std::filesystem::path& folder, const std::string& stem) {
  const auto source = std::make_shared<ShardedSafetensors>(folder, stem);
  if (source->files().empty()) {
    throw malformed(folder / index_file_name(stem), "names no tensor", "a model");
  }
  StoredTensors tensors;
  for (const auto& [name, tensor] : source->tensors()) {
    tensors.headers.push_back({name, tensor.dtype, tensor.shape});
  }
  tensors.metadata = common_metadata(source->files());
  tensors.read = [source](const std::string& name, std::vector<char>& data) {
    const TensorInfo& tensor = source->tensors().at(name);
    data.resize(tensor.end - tensor.begin);
    source->read(name, data.data());
  };
  return tensors;
}

void merge_safetensors(const StoredTensors& tensors, const std::filesystem::path& file) {
  write_tensors(file, tensors, tensors.headers);
}

void split_safetensors(const StoredTensors& tensors, const std::filesystem::path& folder,
                       const std::string& stem, int count) {
  std::vector<std::uint64_t> sizes;
  for (const TensorHeader& tensor : tensors.headers) {
    sizes.push_back(byte_count(tensor.dtype, tensor.shape).value_or(0));  // checked when read
  }
  const std::vector<int> bins = spread(sizes, count);
  for (int number = 0; number < count; ++number) {
    std::vector<TensorHeader> headers;
    for (std::size_t i = 0; i < bins.size(); ++i) {
      if (bins[i] == number) headers.push_back(tensors.headers[i]);
    }
    write_tensors(folder / shard_file_name(stem, number, count), tensors, std::move(headers));
  }
  write_index(folder, stem, count);
}

std::vector<int> spread(const std::vector<std::uint64_t>& sizes, int bins) {
  // Largest first, each into the emptiest bin (Graham 1969: at most 4/3 of the best possible).
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::vector<std::uint64_t> filled(static_cast<std::size_t>(bins), 0);
  std::vector<int> result(sizes.size());
  for (const std::size_t part : order) {
    const auto least = std::min_element(filled.begin(), filled.end());
    *least += sizes[part];
    result[part] = static_cast<int>(least - filled.begin());
  }
  return result;
}

}  // namespace hpcboot::record
