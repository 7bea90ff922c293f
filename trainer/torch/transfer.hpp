#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collective_failure.hpp"
#include "hpcboot/torch/pending.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "texts.hpp"

namespace hpcboot {

using PendingTensors = Pending<std::vector<at::Tensor>>;

/// Runs `body`, which calls c10d: what it throws is an Error.
/// @throws Error{peer_lost, deadline_exceeded, invalid_collective}
template <typename Body>
auto as_errors(const std::string& doing, Body&& body) {
  try {
    return with_peers(doing, std::forward<Body>(body));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& cause) {
    throw Error(
        ErrorCode::invalid_collective, doing + " failed (" + first_line(cause.what()) + ")",
        "a collective that this backend supports, with the same arguments on every rank",
        "see the message in parentheses; if it is about sizes, compare the shapes and types "
        "of the tensors on all ranks");
  }
}

/// Starts a collective of c10d. Every failure of it is an Error.
/// @param doing for messages: "an all-reduce"
/// @param contribution what this rank passes, for contributed_bytes(); undefined for nothing
/// @param tensors the result; kept until the transfer has ended
/// @throws Error{peer_lost, deadline_exceeded, invalid_collective}
PendingTensors start_transfer(const ProcessGroup& group, const std::string& doing,
                              const at::Tensor& contribution, std::vector<at::Tensor> tensors,
                              const std::function<c10::intrusive_ptr<c10d::Work>()>& start);

/// Whether the group moves such tensors with Gloo.
bool uses_gloo(const ProcessGroup& group, const at::Tensor& tensor);

/// The elements as bytes in one dimension, which every backend sends, whatever their type. Shares
/// the memory of a contiguous tensor, unless Gloo would have to send it from a CUDA device, which
/// it can in some collectives only: the bytes are in host memory then.
at::Tensor as_bytes(const ProcessGroup& group, const at::Tensor& tensor);

/// The reverse of as_bytes(), without the device. Shares the memory of `bytes`.
at::Tensor from_bytes(const at::Tensor& bytes, at::IntArrayRef shape, at::ScalarType type);

/// Copies to `tensor` what a transfer has written to its bytes, unless they share memory.
void write_back(const at::Tensor& bytes, const at::Tensor& tensor);

/// The tensors of all ranks, which have the same shape and type.
PendingTensors gather_equal(const ProcessGroup& group, const at::Tensor& mine, const char* doing);

/// Sends pieces of `sent`, one after the other, to the ranks, and returns what they sent.
/// @param sent,received of one dimension
/// @param sent_lengths,received_lengths of the pieces for and from each rank
Pending<at::Tensor> exchange_pieces(const ProcessGroup& group, const at::Tensor& sent,
                                    const std::vector<std::int64_t>& sent_lengths,
                                    const std::vector<std::int64_t>& received_lengths,
                                    const char* doing);

}  // namespace hpcboot
