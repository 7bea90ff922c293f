#include "hpcboot/torch/collectives.hpp"

#include <ATen/Functions.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hpcboot/torch/collective_failure.hpp"

namespace hpcboot {
namespace {

at::Tensor to_bytes(std::string_view text, std::int64_t length) {
  at::Tensor bytes = at::zeros({length}, at::kByte);
  std::memcpy(bytes.data_ptr(), text.data(), text.size());
  return bytes;
}

std::string to_text(const at::Tensor& bytes, std::int64_t length) {
  return {static_cast<const char*>(bytes.data_ptr()), static_cast<std::size_t>(length)};
}

std::vector<at::Tensor> all_gather(ProcessGroup& group, const at::Tensor& mine) {
  std::vector<std::vector<at::Tensor>> all(1);
  for (int rank = 0; rank < group.world_size(); ++rank) all[0].push_back(at::empty_like(mine));
  std::vector<at::Tensor> inputs{mine};
  with_peers("an all-gather", [&] { group.c10d_group()->allgather(all, inputs)->wait(); });
  return std::move(all[0]);
}

}  // namespace

void all_reduce_sum(ProcessGroup& group, at::Tensor tensor) {
  std::vector<at::Tensor> tensors{std::move(tensor)};
  with_peers("an all-reduce", [&] { group.c10d_group()->allreduce(tensors)->wait(); });
}

void broadcast(ProcessGroup& group, at::Tensor tensor, int root) {
  std::vector<at::Tensor> tensors{std::move(tensor)};
  c10d::BroadcastOptions options;
  options.rootRank = root;
  with_peers("a broadcast", [&] { group.c10d_group()->broadcast(tensors, options)->wait(); });
}

std::string broadcast_text(ProcessGroup& group, std::string_view text, int root) {
  const bool is_root = group.rank() == root;
  at::Tensor length =
      at::full({1}, is_root ? static_cast<std::int64_t>(text.size()) : 0, at::kLong);
  broadcast(group, length, root);
  const auto size = length.item<std::int64_t>();
  at::Tensor bytes = to_bytes(is_root ? text : std::string_view(), size);
  if (size > 0) broadcast(group, bytes, root);
  return to_text(bytes, size);
}

std::vector<std::string> all_gather_text(ProcessGroup& group, std::string_view text) {
  const auto mine = at::full({1}, static_cast<std::int64_t>(text.size()), at::kLong);
  std::vector<std::int64_t> lengths;
  for (const at::Tensor& length : all_gather(group, mine)) {
    lengths.push_back(length.item<std::int64_t>());
  }
  // An all-gather needs equal sizes, so the texts are padded to the longest.
  const std::int64_t longest =
      std::max<std::int64_t>(1, *std::max_element(lengths.begin(), lengths.end()));
  const std::vector<at::Tensor> all = all_gather(group, to_bytes(text, longest));
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    texts.push_back(to_text(all[rank], lengths[rank]));
  }
  return texts;
}

}  // namespace hpcboot
