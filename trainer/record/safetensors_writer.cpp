#include "record/safetensors_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "hpcboot/error.hpp"
#include "record/json_values.hpp"
#include "record/safetensors_format.hpp"

namespace hpcboot::record {
namespace {

template <typename Tensor>
void sort_as_written(std::vector<Tensor>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) {
    return std::tie(b.dtype, a.name) < std::tie(a.dtype, b.name);
  });
}

Error impossible(const std::string& name, std::string_view found) {
  return Error(ErrorCode::invalid_model_use, fmt::format("tensor '{}' {}", name, found),
               "unique names, and as many bytes as shape and dtype require",
               "make the tensor contiguous and its name unique");
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path,
                                     std::vector<TensorHeader> tensors,
                                     const std::map<std::string, std::string>& metadata)
    : file_(path), tensors_(std::move(tensors)) {
  sort_as_written(tensors_);
  JsonMembers header;
  if (!metadata.empty()) header[std::string(kMetadataKey)] = metadata;
  for (const TensorHeader& tensor : tensors_) {
    const auto bytes = byte_count(tensor.dtype, tensor.shape);
    if (!bytes) throw impossible(tensor.name, "of an impossible shape");
    if (tensor.name == kMetadataKey || header.contains(tensor.name)) {
      throw impossible(tensor.name, "whose name is taken");
    }
    header[tensor.name] = Json{{"dtype", name_of(tensor.dtype)},
                               {"shape", tensor.shape},
                               {"data_offsets", {missing_, missing_ + *bytes}}};
    missing_ += *bytes;
  }
  std::string text = header.take().dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');

  unsigned char length[kHeaderLengthBytes];
  for (std::size_t i = 0; i < kHeaderLengthBytes; ++i) {
    length[i] = static_cast<unsigned char>(std::uint64_t{text.size()} >> (8 * i));
  }
  file_.write(length, sizeof length);
  file_.write(text.data(), text.size());
}

void SafetensorsWriter::write(const void* data, std::size_t bytes) {
  file_.write(data, bytes);
  missing_ -= bytes;
}

void SafetensorsWriter::commit() {
  if (missing_ != 0) throw impossible(tensors_.back().name, "with data of another length");
  file_.commit();
}

void write_safetensors(const std::filesystem::path& path, std::vector<TensorView> tensors,
                       const std::map<std::string, std::string>& metadata) {
  sort_as_written(tensors);
  std::vector<TensorHeader> headers;
  for (const TensorView& tensor : tensors) {
    if (byte_count(tensor.dtype, tensor.shape) != tensor.bytes) {
      throw impossible(tensor.name, fmt::format("of {} bytes and dtype {}", tensor.bytes,
                                                name_of(tensor.dtype)));
    }
    headers.push_back({tensor.name, tensor.dtype, tensor.shape});
  }
  SafetensorsWriter file(path, std::move(headers), metadata);
  for (const TensorView& tensor : tensors) file.write(tensor.data, tensor.bytes);
  file.commit();
}

}  // namespace hpcboot::record
