// Saving: the files of each rank, and the folder that appears when all are written.
#include "hpcboot/torch/sharded_checkpoint.hpp"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "record/atomic_folder.hpp"
#include "record/disk_sync.hpp"
#include "record/output_error.hpp"
#include "record/safetensors_writer.hpp"
#include "record/sharded_safetensors.hpp"
#include "tensor_types.hpp"

namespace hpcboot {
namespace {

namespace fs = std::filesystem;

std::uint32_t add_to(std::uint32_t sum, const void* data, std::size_t bytes) {
  return static_cast<std::uint32_t>(::crc32_z(sum, static_cast<const Bytef*>(data), bytes));
}

std::string text_of(std::uint32_t sum) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", sum);
  return text;
}

using ByName = std::map<std::string, at::Tensor>;

at::Tensor on_host(const at::Tensor& tensor) {
  return tensor.cpu().contiguous();
}

/// Of names and elements, in the order of the names.
std::string checksum(const ByName& tensors) {
  std::uint32_t sum = 0;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor data = on_host(tensor);
    sum = add_to(sum, name.data(), name.size());
    sum = add_to(sum, data.data_ptr(), data.nbytes());
  }
  return text_of(sum);
}

std::string checksum(const record::SafetensorsFile& file) {
  std::map<std::string, const record::TensorInfo*> tensors;
  for (const record::TensorInfo& one : file.tensors()) tensors.emplace(one.name, &one);
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 22U;
  std::vector<char> data;
  std::uint32_t sum = 0;
  for (const auto& [name, tensor] : tensors) {
    sum = add_to(sum, name.data(), name.size());
    const std::uint64_t size = tensor->end - tensor->begin;
    for (std::uint64_t offset = 0; offset < size; offset += kChunk) {
      data.resize(std::min(kChunk, size - offset));
      file.read_part(*tensor, offset, data.size(), data.data());
      sum = add_to(sum, data.data(), data.size());
    }
  }
  return text_of(sum);
}

void write_tensors(const std::vector<NamedTensor>& list, const fs::path& file) {
  ByName tensors;
  std::vector<record::TensorHeader> headers;
  for (const auto& [name, tensor] : list) {
    tensors.emplace(name, tensor);
    headers.push_back({name, dtype_of(tensor), tensor.sizes().vec()});
  }
  record::SafetensorsWriter writer(file, std::move(headers),
                                   {{"format", "pt"}, {record::kChecksumKey, checksum(tensors)}});
  for (const record::TensorHeader& header : writer.tensors()) {
    const at::Tensor data = on_host(tensors.at(header.name));
    writer.write(data.data_ptr(), data.nbytes());
  }
  writer.commit();
}

/// Does something on one rank, or on each, and throws on every rank if it failed anywhere.
template <typename Action>
void together(const ProcessGroup& group, const Action& action) {
  std::string failure;
  try {
    action();
  } catch (const Error& error) {
    failure = error.found();
  }
  const std::vector<std::string> all = all_gather_text(group, failure);
  const auto failed =
      std::find_if(all.begin(), all.end(), [](const auto& one) { return !one.empty(); });
  if (failed == all.end()) return;
  throw Error(ErrorCode::unwritable_output,
              "rank " + std::to_string(failed - all.begin()) + ": " + *failed,
              "a new folder on a file system that all ranks share, with space left",
              "free space, or choose another folder");
}

}  // namespace

void write_share(const CheckpointShare& share, const fs::path& folder, int rank, int world_size) {
  const at::NoGradGuard no_grad;
  record::make_folders(folder);
  write_tensors(share.model,
                folder / record::shard_file_name(record::kModelStem, rank, world_size));
  if (!share.optimizer) return;
  write_tensors(*share.optimizer,
                folder / record::shard_file_name(record::kOptimizerStem, rank, world_size));
}

void complete_checkpoint(const fs::path& written, const fs::path& folder, int world_size,
                         const std::map<std::string, std::string>& notes) {
  for (int rank = 0; rank < world_size; ++rank) {
    const fs::path file = written / record::shard_file_name(record::kModelStem, rank, world_size);
    if (fs::exists(file)) continue;
    throw Error(ErrorCode::unreadable_file,
                "'" + file.string() + "' is missing, though rank " + std::to_string(rank) +
                    " has written it: its host has another folder there",
                "a folder that all hosts share", "choose one on a shared file system");
  }
  if (fs::exists(written / record::shard_file_name(record::kOptimizerStem, 0, world_size))) {
    record::write_index(written, record::kOptimizerStem, world_size);
  }
  record::write_index(written, record::kModelStem, world_size, notes);
  record::complete_folder(written, folder);
}

void save_sharded(const fs::path& target, const torch::nn::Module& model,
                  torch::optim::Optimizer* optimizer, const ProcessGroup& group,
                  const std::map<std::string, std::string>& notes) {
  const fs::path folder = target.has_filename() ? target : target.parent_path();
  const fs::path hidden = record::unfinished_folder(folder);
  const bool is_first = group.rank() == 0;
  together(group, [&] {
    if (!is_first) return;
    if (fs::exists(fs::symlink_status(folder))) {
      throw record::output_error("create", folder, EEXIST);
    }
    record::begin_folder(folder);
  });
  const CheckpointShare share = share_for_checkpoint(model, optimizer, group);
  try {
    together(group, [&] { write_share(share, hidden, group.rank(), group.world_size()); });
    together(group, [&] {
      if (is_first) complete_checkpoint(hidden, folder, group.world_size(), notes);
    });
  } catch (const Error&) {
    std::error_code ignored;
    if (is_first) fs::remove_all(hidden, ignored);
    throw;
  }
}

std::map<std::string, std::string> verify_sharded(const fs::path& folder, int part, int parts) {
  int number = 0;
  const auto verify = [&](const record::ShardedSafetensors& all) {
    for (const record::SafetensorsFile& file : all.files()) {
      if (number++ % parts != part) continue;
      const auto known = file.metadata().find(record::kChecksumKey);
      if (known == file.metadata().end() || known->second == checksum(file)) continue;
      throw Error(ErrorCode::malformed_file,
                  "'" + file.path().string() + "' is damaged: its checksum does not match",
                  "the bytes that were written", "use another checkpoint");
    }
  };
  const record::ShardedSafetensors model(folder, record::kModelStem);
  verify(model);
  if (fs::exists(folder / record::index_file_name(record::kOptimizerStem))) {
    verify(record::ShardedSafetensors(folder, record::kOptimizerStem));
  }
  return model.metadata();
}

}  // namespace hpcboot
