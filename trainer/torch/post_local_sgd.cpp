#include "hpcboot/torch/post_local_sgd.hpp"

#include <string>
#include <unordered_set>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"

namespace hpcboot {
namespace {

class PostLocalSgdHook : public CommunicationHook {
 public:
  PostLocalSgdHook(const ProcessGroup& subgroup, std::int64_t start_step)
      : subgroup_(subgroup), start_step_(start_step) {}

  std::string settings() const override {
    return "post-local SGD from step " + std::to_string(start_step_);
  }

  Pending<at::Tensor> exchange(ProcessGroup& group, const GradientBucket& bucket) override {
    const bool is_local = step_ >= start_step_;
    if (bucket.is_last) ++step_;
    return average_->exchange(is_local ? subgroup_ : group, bucket);
  }

 private:
  ProcessGroup subgroup_;
  std::int64_t start_step_;
  std::int64_t step_ = 0;
  std::shared_ptr<CommunicationHook> average_ = all_reduce_hook();
};

}  // namespace

std::shared_ptr<CommunicationHook> post_local_sgd_hook(const ProcessGroup& subgroup,
                                                       std::int64_t start_step) {
  return std::make_shared<PostLocalSgdHook>(subgroup, start_step);
}

ModelAverager::ModelAverager(const ProcessGroup& group, const ModelAveragerOptions& options)
    : group_(group), options_(options) {
  if (options.period >= 1) return;
  throw Error(ErrorCode::invalid_model_use,
              "models averaged every " + std::to_string(options.period) + " steps",
              "a period of at least 1", "see ModelAveragerOptions");
}

bool ModelAverager::step(const std::vector<at::Tensor>& parameters) {
  const std::int64_t step = steps_++;
  if (step < options_.start_step || (step - options_.start_step) % options_.period != 0) {
    return false;
  }
  std::vector<Pending<at::Tensor>> pending;
  std::unordered_set<const c10::TensorImpl*> seen;  // layers may share a parameter
  for (const at::Tensor& parameter : parameters) {
    if (!seen.insert(parameter.unsafeGetTensorImpl()).second) continue;
    pending.push_back(all_reduce(group_, parameter, ReduceOp::average));
  }
  for (const auto& one : pending) one.wait();
  return true;
}

}  // namespace hpcboot
