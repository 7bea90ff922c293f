#include "compressed_gradients.hpp"

#include <ATen/Functions.h>
#include <ATen/core/ivalue_inl.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <utility>
#include <vector>

#include "compat.hpp"

namespace hpcboot {
namespace {

using Future = c10::ivalue::Future;

class CompressionHook : public c10d::CommHookInterface {
 public:
  CompressionHook(c10::intrusive_ptr<c10d::ProcessGroup> group, c10::ScalarType type)
      : group_(std::move(group)), type_(type) {}

  c10::intrusive_ptr<Future> runHook(c10d::GradBucket& bucket) override {
    const at::Tensor compressed = (bucket.getBuffer() / group_->getSize()).to(type_);
    // Gloo can add fp16, but not bf16; NCCL can add both.
    const bool can_add =
        type_ == at::kHalf || compat::backend_name(group_, compressed.device().type()) != "gloo";
    return can_add ? reduce(bucket.getBuffer(), compressed)
                   : gather_and_add(bucket.getBuffer(), compressed);
  }

  at::Tensor parseHookResult(const c10::IValue& result) override { return result.toTensor(); }

 private:
  c10::intrusive_ptr<Future> reduce(const at::Tensor& result, const at::Tensor& compressed) {
    std::vector<at::Tensor> tensors{compressed};
    return group_->allreduce(tensors)->getFuture()->then(
        [result, compressed](Future& done) {
          done.value();  // throws if the exchange failed
          return c10::IValue(result.copy_(compressed));
        },
        c10::TensorType::get());
  }

  /// Every rank receives the parts of all ranks, as bits that Gloo treats as fp16, and adds them in
  /// rank order, in full precision.
  c10::intrusive_ptr<Future> gather_and_add(const at::Tensor& result,
                                            const at::Tensor& compressed) {
    std::vector<at::Tensor> mine{compressed.view(at::kHalf)};
    std::vector<std::vector<at::Tensor>> all(1);
    for (int rank = 0; rank < group_->getSize(); ++rank) all[0].push_back(at::empty_like(mine[0]));
    return group_->allgather(all, mine)->getFuture()->then(
        [result, parts = all[0], type = type_](Future& done) {
          done.value();
          result.zero_();
          for (const at::Tensor& part : parts) result.add_(part.view(type));
          return c10::IValue(result);
        },
        c10::TensorType::get());
  }

  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  c10::ScalarType type_;
};

}  // namespace

std::unique_ptr<c10d::CommHookInterface> make_compression_hook(
    c10::intrusive_ptr<c10d::ProcessGroup> group, c10::ScalarType type) {
  return std::make_unique<CompressionHook>(std::move(group), type);
}

}  // namespace hpcboot
