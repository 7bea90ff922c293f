#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/torch/pending.hpp"
#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// What a reduction computes from the elements of all ranks. Of bool tensors, sum and max are "or",
/// product and min "and".
enum class ReduceOp { sum, average, product, min, max };

// The collectives of a group. Each rank of the group calls the same ones in the same order. They
// start at once, and wait() of the returned object ends them. Ranks are those of the group. They
// take tensors of every type that LibTorch 1.13 computes with (bool, bf16 and complex ones, too),
// contiguous or not, with or without elements, on the CPU and on CUDA devices; sparse ones in
// all_reduce() only. trainer/groups.md lists how each is sent. Where shapes and types must be the
// same on every rank, Gloo may end a process whose tensor is smaller than the others'.
//
// All throw Error{invalid_collective} for arguments that no rank could fulfil and for a group that
// was shut down, and wait() throws Error{peer_lost, deadline_exceeded}.

/// Combines the tensor with those of all ranks, in place. Shape and type must be the same on every
/// rank. A sparse tensor is not changed: the result is another one.
/// @throws Error{invalid_collective} for the average of integers or bools, the order of complex
///         numbers, and sparse tensors in other operations than sum and average
Pending<at::Tensor> all_reduce(const ProcessGroup& group, const at::Tensor& tensor,
                               ReduceOp op = ReduceOp::sum);

/// Combines part i of every rank, and returns the result on rank i: the reduction of which every
/// rank needs one part only. The parts may differ in shape, but part i must have the same shape on
/// every rank.
/// @param parts one for each rank
Pending<at::Tensor> reduce_scatter(const ProcessGroup& group, const std::vector<at::Tensor>& parts,
                                   ReduceOp op = ReduceOp::sum);

/// The same for equal parts: `tensor` is cut along its first dimension, whose size must be a
/// multiple of the number of ranks.
Pending<at::Tensor> reduce_scatter(const ProcessGroup& group, const at::Tensor& tensor,
                                   ReduceOp op = ReduceOp::sum);

/// Returns the tensors of all ranks, indexed by rank, on every rank. They may differ in shape, but
/// not in type. Waits for the shapes of all ranks before it returns.
Pending<std::vector<at::Tensor>> all_gather(const ProcessGroup& group, const at::Tensor& tensor);

/// Copies rank `root`'s tensor to every other rank, in place. Shape and type must be the same on
/// every rank.
Pending<at::Tensor> broadcast(const ProcessGroup& group, const at::Tensor& tensor, int root = 0);

/// Sends parts[i] to rank i, and returns what the ranks sent to this one, indexed by rank. The
/// parts may differ in shape, but not in type. Waits for the shapes of all ranks before it returns.
Pending<std::vector<at::Tensor>> all_to_all(const ProcessGroup& group,
                                            const std::vector<at::Tensor>& parts);

/// Sends the tensor to rank `to`, which calls recv(). Several messages from one rank to another
/// with the same tag arrive in the order in which they were sent. NCCL has no tags: there, all of
/// them do.
Pending<at::Tensor> send(const ProcessGroup& group, const at::Tensor& tensor, int to, int tag = 0);

/// Receives into `tensor`, in wait(), what rank `from` sends with this tag. Shape and type must be
/// those of the tensor that was sent. The group's collective timeout runs from this call on.
Pending<at::Tensor> recv(const ProcessGroup& group, const at::Tensor& tensor, int from,
                         int tag = 0);

/// Returns rank `root`'s text on every rank. The argument of the other ranks is ignored.
/// @throws Error{peer_lost, deadline_exceeded}
std::string broadcast_text(const ProcessGroup& group, std::string_view text, int root = 0);

/// Returns the texts of all ranks, indexed by rank, on every rank.
/// @throws Error{peer_lost, deadline_exceeded}
std::vector<std::string> all_gather_text(const ProcessGroup& group, std::string_view text);

}  // namespace hpcboot
