// The collectives that only move tensors. Those that reduce them are in reductions.cpp, messages
// from one rank to another in messages.cpp.
#include "hpcboot/torch/collectives.hpp"

#include <ATen/Functions.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "announced.hpp"
#include "arguments.hpp"
#include "hpcboot/error.hpp"
#include "transfer.hpp"

namespace hpcboot {
namespace {

constexpr const char* kAllGather = "an all-gather";
constexpr const char* kAllToAll = "an all-to-all";

/// Follows the transfer, so that a rank with another type does not hold up the others.
void require_type(const std::vector<Announced>& announced, at::ScalarType expected,
                  const std::string& doing) {
  for (std::size_t rank = 0; rank < announced.size(); ++rank) {
    if (announced[rank].type == expected) continue;
    throw Error(ErrorCode::invalid_collective,
                doing + " of " + c10::toString(announced[rank].type) + " on rank " +
                    std::to_string(rank) + ", but of " + c10::toString(expected) + " on this rank",
                "tensors of one type", "convert them to one type with Tensor::to()");
  }
}

/// The headers' own transfer uses host memory, except with a backend for CUDA tensors only.
at::Tensor on_device_of(const ProcessGroup& group, const at::Tensor& header,
                        const at::Tensor& tensor) {
  return uses_gloo(group, tensor) ? header : header.to(tensor.device());
}

std::vector<Announced> announced_by(const std::vector<at::Tensor>& headers) {
  std::vector<Announced> announced;
  for (const at::Tensor& header : headers) announced.emplace_back(header.cpu().contiguous());
  return announced;
}

at::Tensor text_tensor(std::string_view text) {
  at::Tensor bytes = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
  if (!text.empty()) std::memcpy(bytes.data_ptr(), text.data(), text.size());
  return bytes;
}

std::string to_text(const at::Tensor& bytes) {
  return {static_cast<const char*>(bytes.data_ptr()), static_cast<std::size_t>(bytes.numel())};
}

}  // namespace

Pending<at::Tensor> broadcast(const ProcessGroup& group, const at::Tensor& tensor, int root) {
  require_rank(group, root, "root");
  const at::Tensor bytes = as_bytes(group, tensor);
  return start_transfer(group, "a broadcast", bytes, {bytes},
                        [&] {
                          std::vector<at::Tensor> tensors{bytes};
                          c10d::BroadcastOptions options;
                          options.rootRank = root;
                          return group.c10d_group()->broadcast(tensors, options);
                        })
      .then([bytes, tensor](const std::vector<at::Tensor>&) {
        write_back(bytes, tensor);
        return tensor;
      });
}

Pending<std::vector<at::Tensor>> all_gather(const ProcessGroup& group, const at::Tensor& tensor) {
  const std::vector<Announced> announced = announced_by(
      gather_equal(group, on_device_of(group, announcement(tensor), tensor), kAllGather).wait());
  std::int64_t longest = 1;
  for (const Announced& one : announced) longest = std::max(longest, one.bytes());
  at::Tensor mine = as_bytes(group, tensor);
  if (mine.numel() < longest) mine = at::constant_pad_nd(mine, {0, longest - mine.numel()});
  return gather_equal(group, mine, kAllGather)
      .then([announced, type = tensor.scalar_type(),
             device = tensor.device()](const std::vector<at::Tensor>& padded) {
        require_type(announced, type, kAllGather);
        std::vector<at::Tensor> all;
        for (std::size_t rank = 0; rank < padded.size(); ++rank) {
          const at::Tensor bytes = padded[rank].narrow(0, 0, announced[rank].bytes());
          all.push_back(from_bytes(bytes, announced[rank].shape, type).to(device));
        }
        return all;
      });
}

Pending<std::vector<at::Tensor>> all_to_all(const ProcessGroup& group,
                                            const std::vector<at::Tensor>& parts) {
  require_parts(group, parts, kAllToAll);
  std::vector<at::Tensor> headers;
  std::vector<at::Tensor> bytes;
  std::vector<std::int64_t> sent_lengths;
  for (const at::Tensor& part : parts) {
    headers.push_back(announcement(part));
    bytes.push_back(as_bytes(group, part));
    sent_lengths.push_back(bytes.back().numel());
  }
  const std::vector<std::int64_t> header_lengths(parts.size(), kAnnouncement);
  const std::vector<Announced> announced =
      announced_by(exchange_pieces(group, on_device_of(group, at::cat(headers), parts[0]),
                                   header_lengths, header_lengths, kAllToAll)
                       .wait()
                       .split(kAnnouncement));
  std::vector<std::int64_t> lengths;
  for (const Announced& one : announced) lengths.push_back(one.bytes());
  return exchange_pieces(group, at::cat(bytes), sent_lengths, lengths, kAllToAll)
      .then([announced, lengths, type = parts[0].scalar_type(),
             device = parts[0].device()](const at::Tensor& received) {
        require_type(announced, type, kAllToAll);
        std::vector<at::Tensor> all;
        const std::vector<at::Tensor> pieces = received.split_with_sizes(lengths);
        for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
          all.push_back(from_bytes(pieces[rank], announced[rank].shape, type).to(device));
        }
        return all;
      });
}

std::string broadcast_text(const ProcessGroup& group, std::string_view text, int root) {
  const bool is_root = group.rank() == root;
  at::Tensor length =
      at::full({1}, is_root ? static_cast<std::int64_t>(text.size()) : 0, at::kLong);
  broadcast(group, length, root).wait();
  const at::Tensor bytes =
      is_root ? text_tensor(text) : at::empty({length.item<std::int64_t>()}, at::kByte);
  return to_text(broadcast(group, bytes, root).wait());
}

std::vector<std::string> all_gather_text(const ProcessGroup& group, std::string_view text) {
  std::vector<std::string> texts;
  for (const at::Tensor& bytes : all_gather(group, text_tensor(text)).wait()) {
    texts.push_back(to_text(bytes));
  }
  return texts;
}

}  // namespace hpcboot
