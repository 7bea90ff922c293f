#include "hpcboot/torch/communication_hook.hpp"

#include <ATen/Functions.h>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "transfer.hpp"

namespace hpcboot {
namespace {

class AllReduceHook : public CommunicationHook {
 public:
  Pending<at::Tensor> exchange(ProcessGroup& group, const GradientBucket& bucket) override {
    if (bucket.gradients.is_sparse()) {
      return all_reduce(group, bucket.gradients, ReduceOp::average);
    }
    // A product, as in PyTorch: a quotient may differ in the last bit.
    at::Tensor part = bucket.gradients;
    return all_reduce(group, part.mul_(1.0 / group.world_size()));
  }
};

class CompressionHook : public AllReduceHook {
 public:
  explicit CompressionHook(at::ScalarType type) : type_(type) {}

  std::string settings() const override { return c10::toString(type_); }

  Pending<at::Tensor> exchange(ProcessGroup& group, const GradientBucket& bucket) override {
    if (bucket.gradients.is_sparse()) return AllReduceHook::exchange(group, bucket);
    at::Tensor part = bucket.gradients;
    const at::Tensor compressed = part.mul_(1.0 / group.world_size()).to(type_);
    if (type_ == at::kBFloat16 && uses_gloo(group, compressed)) {
      return gather_and_add(group, part, compressed);
    }
    return all_reduce(group, compressed).then([part](const at::Tensor& mean) {
      return part.copy_(mean);
    });
  }

 private:
  /// Every rank adds the parts of all ranks in rank order, in full precision.
  static Pending<at::Tensor> gather_and_add(const ProcessGroup& group, const at::Tensor& result,
                                            const at::Tensor& compressed) {
    return gather_equal(group, as_bytes(group, compressed), "an all-gather of gradients")
        .then([result](const std::vector<at::Tensor>& parts) {
          result.zero_();
          for (const at::Tensor& part : parts) {
            result.add_(from_bytes(part, result.sizes(), at::kBFloat16).to(result.device()));
          }
          return result;
        });
  }

  at::ScalarType type_;
};

}  // namespace

std::shared_ptr<CommunicationHook> all_reduce_hook() {
  return std::make_shared<AllReduceHook>();
}

std::shared_ptr<CommunicationHook> compression_hook(at::ScalarType type) {
  if (type == at::kHalf || type == at::kBFloat16) return std::make_shared<CompressionHook>(type);
  throw Error(ErrorCode::invalid_model_use,
              std::string("gradients compressed to ") + c10::toString(type), "Half or BFloat16",
              "pass at::kHalf or at::kBFloat16");
}

}  // namespace hpcboot
