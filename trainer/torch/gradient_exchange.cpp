#include "gradient_exchange.hpp"

#include <ATen/Functions.h>
#include <ATen/core/ivalue_inl.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <utility>
#include <vector>

#include "compat.hpp"
#include "hpcboot/torch/collective_failure.hpp"

namespace hpcboot {
namespace {

using Future = c10::ivalue::Future;

/// What `result` makes of the finished collective, when it has finished.
template <typename Result>
c10::intrusive_ptr<Future> after(const c10::intrusive_ptr<Future>& collective, Result result) {
  return collective->then(
      [result = std::move(result)](Future& done) {
        with_peers("the backward pass", [&] { done.value(); });  // throws if the exchange failed
        return c10::IValue(result(done));
      },
      c10::TensorType::get());
}

class GradientExchange : public c10d::CommHookInterface {
 public:
  GradientExchange(c10::intrusive_ptr<c10d::ProcessGroup> group,
                   std::optional<c10::ScalarType> compressed)
      : group_(std::move(group)), compressed_(compressed) {}

  c10::intrusive_ptr<Future> runHook(c10d::GradBucket& bucket) override {
    return with_peers("the backward pass", [&] { return start(bucket.getBuffer()); });
  }

  at::Tensor parseHookResult(const c10::IValue& result) override { return result.toTensor(); }

 private:
  c10::intrusive_ptr<Future> start(const at::Tensor& gradients) {
    if (gradients.is_sparse()) return add_sparse(gradients);
    // A product, as in PyTorch: a quotient may differ in the last bit.
    const at::Tensor part = gradients.mul_(1.0 / group_->getSize());
    if (!compressed_) {
      return add(part, [part](Future&) { return part; });
    }
    const at::Tensor compressed = part.to(*compressed_);
    // Gloo can add fp16, but not bf16; NCCL can add both.
    const bool can_add = *compressed_ == at::kHalf ||
                         compat::backend_name(group_, compressed.device().type()) != "gloo";
    if (!can_add) return gather_and_add(gradients, compressed);
    return add(compressed,
               [gradients, compressed](Future&) { return gradients.copy_(compressed); });
  }

  template <typename Result>
  c10::intrusive_ptr<Future> add(const at::Tensor& part, Result result) {
    std::vector<at::Tensor> tensors{part};
    return after(group_->allreduce(tensors)->getFuture(), std::move(result));
  }

  /// The sum has the indices of all ranks, so it is another tensor.
  c10::intrusive_ptr<Future> add_sparse(const at::Tensor& gradients) {
    return add(gradients.mul(1.0 / group_->getSize()),
               [](Future& done) { return done.value().toTensorVector().front(); });
  }

  /// Every rank receives the parts of all ranks, as bits that Gloo treats as fp16, and adds them in
  /// rank order, in full precision.
  c10::intrusive_ptr<Future> gather_and_add(const at::Tensor& result,
                                            const at::Tensor& compressed) {
    std::vector<at::Tensor> mine{compressed.view(at::kHalf)};
    std::vector<std::vector<at::Tensor>> all(1);
    for (int rank = 0; rank < group_->getSize(); ++rank) all[0].push_back(at::empty_like(mine[0]));
    const auto sum = [result, parts = all[0], type = *compressed_](Future&) {
      result.zero_();
      for (const at::Tensor& part : parts) result.add_(part.view(type));
      return result;
    };
    return after(group_->allgather(all, mine)->getFuture(), sum);
  }

  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  std::optional<c10::ScalarType> compressed_;
};

}  // namespace

std::unique_ptr<c10d::CommHookInterface> make_gradient_exchange(
    c10::intrusive_ptr<c10d::ProcessGroup> group, std::optional<c10::ScalarType> compressed) {
  return std::make_unique<GradientExchange>(std::move(group), compressed);
}

}  // namespace hpcboot
