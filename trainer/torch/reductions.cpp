// all_reduce() and reduce_scatter(), also of types that a backend cannot add.
#include <ATen/Functions.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "local_reduction.hpp"
#include "transfer.hpp"

namespace hpcboot {
namespace {

constexpr const char* kAllReduce = "an all-reduce";
constexpr const char* kReduceScatter = "a reduce-scatter";

/// The types that every version of Gloo, and NCCL, can add.
bool is_added_natively(at::ScalarType type) {
  constexpr std::array<at::ScalarType, 7> kTypes{at::kFloat, at::kDouble, at::kHalf, at::kChar,
                                                 at::kByte,  at::kInt,    at::kLong};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

c10d::ReduceOp::RedOpType c10d_operation(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:  // of Gloo and NCCL, only NCCL knows it: it is a sum, and a division
      return c10d::ReduceOp::SUM;
    case ReduceOp::product:
      return c10d::ReduceOp::PRODUCT;
    case ReduceOp::min:
      return c10d::ReduceOp::MIN;
    case ReduceOp::max:
      return c10d::ReduceOp::MAX;
  }
  return c10d::ReduceOp::SUM;
}

PendingTensors add_natively(const ProcessGroup& group, const at::Tensor& sent, ReduceOp op) {
  return start_transfer(group, kAllReduce, sent, {sent}, [&] {
    std::vector<at::Tensor> tensors{sent};
    c10d::AllreduceOptions options;
    options.reduceOp = c10d_operation(op);
    return group.c10d_group()->allreduce(tensors, options);
  });
}

/// A tensor that a backend can reduce in place of another one, and the operation to use on it.
struct Substitute {
  at::Tensor tensor;
  ReduceOp op;
};

/// Undefined if there is none.
Substitute substitute_for(const ProcessGroup& group, const at::Tensor& tensor, ReduceOp op) {
  const bool is_linear = op == ReduceOp::sum || op == ReduceOp::average;
  const at::ScalarType type = tensor.scalar_type();
  if (is_added_natively(type)) return {tensor.contiguous(), op};
  if (type == at::kBool) {
    const bool is_or = op == ReduceOp::sum || op == ReduceOp::max;
    return {tensor.contiguous().view(at::kByte), is_or ? ReduceOp::max : ReduceOp::min};
  }
  if (type == at::kBFloat16 && !uses_gloo(group, tensor)) return {tensor.contiguous(), op};
  // Twice the traffic of bf16, but on four or more ranks less than receiving all their parts.
  if (type == at::kBFloat16) return {tensor.to(at::kFloat).contiguous(), op};
  if (type == at::kShort) return {tensor.to(at::kInt).contiguous(), op};
  if (at::isComplexType(type) && is_linear) {
    return {at::view_as_real(tensor.resolve_conj()).contiguous(), op};
  }
  return {{}, op};
}

void divide(const at::Tensor& sum, int ranks, ReduceOp op) {
  if (op == ReduceOp::average) at::Tensor(sum).div_(ranks);
}

Pending<at::Tensor> add_sparse(const ProcessGroup& group, const at::Tensor& tensor, ReduceOp op) {
  if (op != ReduceOp::sum && op != ReduceOp::average) {
    throw Error(ErrorCode::invalid_collective, "an all-reduce of a sparse tensor",
                "its sum or average", "convert it with to_dense()");
  }
  return start_transfer(group, kAllReduce, tensor, {tensor},
                        [&] {
                          std::vector<at::Tensor> tensors{tensor};
                          return group.c10d_group()->allreduce(tensors);
                        })
      .then([ranks = group.world_size(), op](const std::vector<at::Tensor>& sum) {
        divide(sum[0], ranks, op);
        return sum[0];
      });
}

Pending<at::Tensor> gather_and_reduce(const ProcessGroup& group, const at::Tensor& tensor,
                                      ReduceOp op) {
  return gather_equal(group, as_bytes(group, tensor), kAllReduce)
      .then([tensor, op](const std::vector<at::Tensor>& all) {
        std::vector<at::Tensor> parts;
        for (const at::Tensor& bytes : all) {
          parts.push_back(from_bytes(bytes, tensor.sizes(), tensor.scalar_type()));
        }
        tensor.detach().copy_(reduced(at::stack(parts), op));
        return tensor;
      });
}

}  // namespace

Pending<at::Tensor> all_reduce(const ProcessGroup& group, const at::Tensor& tensor, ReduceOp op) {
  require_operation(op, tensor.scalar_type(), kAllReduce);
  const at::Tensor target = tensor.detach();  // the same memory, without autograd
  if (target.is_sparse()) return add_sparse(group, target, op);
  if (target.numel() == 0) {
    group.c10d_group();  // refuses after shutdown, as for other tensors
    return Pending<at::Tensor>::of(tensor);
  }
  const Substitute sent =
      substitute_for(group, target.is_sparse() ? target : target.resolve_neg(), op);
  if (!sent.tensor.defined()) return gather_and_reduce(group, tensor, op);
  return add_natively(group, sent.tensor, sent.op)
      .then([sent = sent.tensor, target, tensor, op,
             ranks = group.world_size()](const std::vector<at::Tensor>&) {
        divide(sent, ranks, op);
        if (sent.data_ptr() == target.data_ptr()) return tensor;
        if (target.is_complex()) {
          target.copy_(at::view_as_complex(sent));
        } else {
          target.copy_(sent);
        }
        return tensor;
      });
}

namespace {

/// Every rank receives its part of all ranks: half the traffic of an all-reduce, for every type.
/// @param bytes of all parts, `lengths` for each rank
/// @param mine the part of this rank
Pending<at::Tensor> exchange_and_reduce(const ProcessGroup& group, const at::Tensor& bytes,
                                        const std::vector<std::int64_t>& lengths,
                                        const at::Tensor& mine, ReduceOp op) {
  const std::vector<std::int64_t> received(lengths.size(),
                                           lengths[static_cast<std::size_t>(group.rank())]);
  return exchange_pieces(group, bytes, lengths, received, kReduceScatter)
      .then([mine, op, ranks = group.world_size()](const at::Tensor& all) {
        std::vector<std::int64_t> shape{ranks};
        shape.insert(shape.end(), mine.sizes().begin(), mine.sizes().end());
        return reduced(from_bytes(all, shape, mine.scalar_type()), op).to(mine.device());
      });
}

}  // namespace

Pending<at::Tensor> reduce_scatter(const ProcessGroup& group, const std::vector<at::Tensor>& parts,
                                   ReduceOp op) {
  require_parts(group, parts, kReduceScatter);
  require_operation(op, parts[0].scalar_type(), kReduceScatter);
  std::vector<at::Tensor> bytes;
  std::vector<std::int64_t> lengths;
  for (const at::Tensor& part : parts) {
    bytes.push_back(as_bytes(group, part));
    lengths.push_back(bytes.back().numel());
  }
  return exchange_and_reduce(group, at::cat(bytes), lengths,
                             parts[static_cast<std::size_t>(group.rank())].detach(), op);
}

Pending<at::Tensor> reduce_scatter(const ProcessGroup& group, const at::Tensor& tensor,
                                   ReduceOp op) {
  const std::int64_t ranks = group.world_size();
  if (tensor.dim() == 0 || tensor.size(0) % ranks != 0) {
    throw Error(ErrorCode::invalid_collective,
                "a reduce-scatter of a tensor of shape " + shape_text(tensor) + " over " +
                    std::to_string(ranks) + " ranks",
                "a first dimension that is a multiple of the number of ranks",
                "pad the tensor, or pass a vector of parts, which may differ in size");
  }
  require_operation(op, tensor.scalar_type(), kReduceScatter);
  const std::int64_t rows = tensor.size(0) / ranks;
  const at::Tensor bytes = as_bytes(group, tensor);
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(ranks), bytes.numel() / ranks);
  return exchange_and_reduce(group, bytes, lengths,
                             tensor.detach().narrow(0, group.rank() * rows, rows), op);
}

}  // namespace hpcboot
