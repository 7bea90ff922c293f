#include "hpcboot/torch/power_sgd.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "core/classic.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"

namespace hpcboot {
namespace {

/// What is kept for a parameter from step to step.
struct Memory {
  at::Tensor right;  ///< the second thin matrix, m x rank: where the next power step begins
  at::Tensor error;  ///< what the approximation left out
};

/// A gradient that is approximated in this step.
struct Approximation {
  at::Tensor part;    ///< the gradient, in the bucket
  at::Tensor matrix;  ///< with the error of the last step, n x m
  Memory* memory;
};

/// Some tensors of one type as a single one, for one transfer.
at::Tensor joined(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors) flat.push_back(tensor.reshape({-1}));
  return at::cat(flat);
}

/// The reverse: tensors of the shapes of `like`.
std::vector<at::Tensor> parted(const at::Tensor& flat, const std::vector<at::Tensor>& like) {
  std::vector<at::Tensor> tensors;
  std::int64_t begin = 0;
  for (const at::Tensor& shape : like) {
    tensors.push_back(flat.narrow(0, begin, shape.numel()).view(shape.sizes()));
    begin += shape.numel();
  }
  return tensors;
}

/// Half precision is too coarse for the approximation.
at::Tensor wide(const at::Tensor& part) {
  return part.to(at::promoteTypes(at::kFloat, part.scalar_type()));
}

/// An orthonormal basis of the columns.
at::Tensor orthogonal(const at::Tensor& columns) {
  return std::get<0>(at::linalg_qr(columns));
}

class PowerSgdHook : public CommunicationHook {
 public:
  explicit PowerSgdHook(const PowerSgdOptions& options)
      : options_(options), generator_(at::detail::createCPUGenerator(options.seed)) {}

  std::string settings() const override {
    Classic<std::ostringstream> text;
    text << "PowerSGD of rank " << options_.rank << " from step " << options_.start_step
         << ", min_compression " << options_.min_compression << ", seed " << options_.seed;
    return text.str();
  }

  Pending<at::Tensor> exchange(ProcessGroup& group, const GradientBucket& bucket) override {
    const bool plain = step_ < options_.start_step || bucket.gradients.is_sparse() ||
                       !at::isFloatingType(bucket.gradients.scalar_type());
    if (bucket.is_last) ++step_;
    if (plain) return plain_->exchange(group, bucket);

    // The first transfer: gradients that are exchanged as they are, and the left matrices.
    std::vector<at::Tensor> whole;
    std::vector<Approximation> approximations;
    std::vector<at::Tensor> sent;
    const std::vector<at::Tensor> parameters = bucket.parameters();
    const std::vector<at::Tensor> parts = bucket.parts();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const at::Tensor& part = parts[i];
      if (is_worth_it(part)) {
        approximations.push_back(begin(part, memory_[parameters[i].unsafeGetTensorImpl()]));
      } else {
        whole.push_back(part);
        sent.push_back(wide(part));
      }
    }
    for (const Approximation& one : approximations) {
      sent.push_back(at::matmul(one.matrix, one.memory->right));
    }
    return all_reduce(group, joined(sent), ReduceOp::average)
        .then([group, gradients = bucket.gradients, whole, approximations,
               sent](const at::Tensor& means) {
          finish(group, parted(means, sent), whole, approximations);
          return gradients;
        });
  }

 private:
  bool is_worth_it(const at::Tensor& part) const {
    if (part.dim() < 2) return false;
    const std::int64_t n = part.size(0);
    const std::int64_t m = part.numel() / std::max<std::int64_t>(n, 1);
    const std::int64_t thin = (n + m) * std::min({options_.rank, n, m});
    return static_cast<double>(thin) * options_.min_compression < static_cast<double>(n * m);
  }

  Approximation begin(const at::Tensor& part, Memory& memory) {
    at::Tensor matrix = wide(part).reshape({part.size(0), -1});
    const std::int64_t rank = std::min({options_.rank, matrix.size(0), matrix.size(1)});
    if (!memory.right.defined()) {
      memory.right = at::randn({matrix.size(1), rank}, generator_).to(matrix.options());
      memory.error = at::zeros_like(matrix);
    }
    return {part, matrix + memory.error, &memory};
  }

  /// The second transfer, of the right matrices; then puts all results in their places.
  static void finish(ProcessGroup group, std::vector<at::Tensor> means,
                     const std::vector<at::Tensor>& whole,
                     const std::vector<Approximation>& approximations) {
    for (std::size_t i = 0; i < whole.size(); ++i) at::Tensor(whole[i]).copy_(means[i]);
    if (approximations.empty()) return;
    std::vector<at::Tensor> lefts;
    std::vector<at::Tensor> rights;
    for (std::size_t i = 0; i < approximations.size(); ++i) {
      lefts.push_back(orthogonal(means[whole.size() + i]));
      rights.push_back(at::matmul(approximations[i].matrix.t(), lefts.back()));
    }
    rights = parted(all_reduce(group, joined(rights), ReduceOp::average).wait(), rights);
    for (std::size_t i = 0; i < approximations.size(); ++i) {
      const Approximation& one = approximations[i];
      const at::Tensor approximated = at::matmul(lefts[i], rights[i].t());
      // A step of fp16 may overflow: GradScaler skips it, and it must not reach the next one.
      one.memory->error = at::nan_to_num(one.matrix - approximated, 0, 0, 0);
      one.memory->right = at::nan_to_num(rights[i], 0, 0, 0);
      at::Tensor(one.part).copy_(approximated.view(one.part.sizes()));
    }
  }

  const PowerSgdOptions options_;
  at::Generator generator_;
  std::shared_ptr<CommunicationHook> plain_ = all_reduce_hook();
  std::map<const c10::TensorImpl*, Memory> memory_;  // by parameter: buckets change
  std::int64_t step_ = 0;
};

}  // namespace

std::shared_ptr<CommunicationHook> power_sgd_hook(const PowerSgdOptions& options) {
  if (options.rank >= 1 && options.start_step >= 1 && options.min_compression >= 1) {
    return std::make_shared<PowerSgdHook>(options);
  }
  throw Error(ErrorCode::invalid_model_use,
              "PowerSGD with rank " + std::to_string(options.rank) + ", start_step " +
                  std::to_string(options.start_step) + " and min_compression " +
                  std::to_string(options.min_compression),
              "numbers of at least 1", "see PowerSgdOptions");
}

}  // namespace hpcboot
