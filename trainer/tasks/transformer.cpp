// Sequences into sequences: a Transformer writes the target that belongs to a source, vector by
// vector, and sees the true vectors before each. The loss is the mean squared error.
#include <torch/nn/functional/loss.h>

#include <limits>
#include <utility>

#include "datasets/formats.hpp"
#include "datasets/sequence_samples.hpp"
#include "hpcboot/error.hpp"
#include "models/transformer.hpp"
#include "tasks/task.hpp"

namespace hpcboot::tasks {
namespace {

using data::Split;

constexpr double kRounding = 1e-12;

std::unique_ptr<const data::Samples> open(const train::TrainOptions& options, Split split) {
  return std::make_unique<data::SequenceSamples>(
      data::open_sequences(options.data, split, options.limit_samples));
}

const data::SequenceSet& set_of(const data::Samples& samples) {
  return static_cast<const data::SequenceSamples&>(samples).set();
}

class SequenceTask : public Task {
 public:
  explicit SequenceTask(const train::TrainOptions& options)
      : Task(open(options, Split::train), open(options, Split::test)),
        name_(options.model),
        size_(models::transformer_size(name_, set_of(train_samples()).target().shape.width)) {
    size_.dropout = options.dropout;
    if (set_of(validation_samples()).target().shape.width == size_.width) return;
    throw Error(ErrorCode::malformed_data,
                "'" + options.data + "': training " + train_samples().kind() + ", test " +
                    validation_samples().kind(),
                "vectors of the same width in both splits",
                "make both splits from data of one kind");
  }

  std::shared_ptr<models::Model> make_model() const override {
    return std::make_shared<models::Transformer>(size_);
  }

  Example prepare(std::vector<torch::Tensor> parts) const override {
    const torch::Tensor& target = parts[1];
    const torch::Tensor begin = torch::zeros_like(target.narrow(1, 0, 1));
    const torch::Tensor seen =
        torch::cat({begin, target.narrow(1, 0, target.size(1) - 1)}, /*dim=*/1);
    return {{parts[0], seen}, target};
  }

  torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& target) const override {
    return torch::mse_loss(output, target);
  }

  torch::Tensor tally(const torch::Tensor& output, const torch::Tensor& target) const override {
    const torch::Tensor truth = target.to(torch::kFloat64);
    return torch::stack({(output.to(torch::kFloat64) - truth).square().sum(), truth.sum(),
                         truth.square().sum(), torch::full({}, truth.numel(), truth.options())});
  }

  /// The coefficient of determination: 0 for the mean of all targets, 1 for the targets themselves;
  /// NaN if all targets are equal.
  std::vector<record::Measure> measures(const torch::Tensor& tally) const override {
    const auto at = [&](std::int64_t i) { return tally[i].item<double>(); };
    const double variation = at(2) - at(1) * at(1) / at(3);
    // Below that, it is the rounding of the sums: the targets are all the same.
    if (variation <= kRounding * at(2)) return {{"r2", std::numeric_limits<double>::quiet_NaN()}};
    return {{"r2", 1 - at(0) / variation}};
  }

  std::map<std::string, std::string> metadata() const override {
    return {{"model", name_},
            {"width", std::to_string(size_.width)},
            {"heads", std::to_string(size_.heads)},
            {"layers", std::to_string(size_.layers)},
            {"dropout", std::to_string(size_.dropout)}};
  }

 private:
  std::string name_;
  models::TransformerSize size_;
};

}  // namespace

std::unique_ptr<Task> make_transformer(const train::TrainOptions& options,
                                       torch::Device /*device*/) {
  return std::make_unique<SequenceTask>(options);
}

}  // namespace hpcboot::tasks
