#pragma once

// A small network with images and labels, the same on every rank, and its gradients.
#include <gtest/gtest.h>
#include <torch/nn/functional/loss.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "hpcboot/torch/collectives.hpp"
#include "models/model.hpp"
#include "torch/world.hpp"

namespace hpcboot {

using Gradients = std::vector<torch::Tensor>;

inline torch::Tensor loss_of(const torch::Tensor& scores, const torch::Tensor& labels) {
  return torch::nn::functional::cross_entropy(scores, labels);
}

struct Data {
  torch::Tensor images;
  torch::Tensor labels;

  Data part(std::int64_t begin, std::int64_t count) const {
    return {images.narrow(0, begin, count), labels.narrow(0, begin, count)};
  }
};

/// The same on every rank.
inline Data make_data(std::int64_t count) {
  torch::manual_seed(42);
  return {here(torch::randn({count, 1, 14, 14})), here(torch::randint(10, {count}, torch::kLong))};
}

inline std::shared_ptr<models::Model> make_net() {
  torch::manual_seed(7);
  return here(models::make_model("mnistnet"));
}

inline Gradients gradients_of(const models::Model& model) {
  Gradients all;
  for (const torch::Tensor& parameter : model.parameters()) all.push_back(parameter.grad().clone());
  return all;
}

/// The gradients that a single process computes with this loss.
template <typename Loss>
Gradients expected_gradients(Loss&& loss) {
  const auto model = make_net();
  loss(*model).backward();
  return gradients_of(*model);
}

/// @param tolerance relative to the largest element of each gradient
inline void expect_close(const Gradients& found, const Gradients& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double largest = expected[i].abs().max().item<double>();
    EXPECT_LE((found[i] - expected[i]).abs().max().item<double>(), tolerance * largest)
        << "gradient " << i;
  }
}

/// Collective.
inline bool same_on_all_ranks(const torch::Tensor& tensor) {
  torch::Tensor of_rank_0 = tensor.clone();
  broadcast(*world, of_rank_0).wait();
  return tensor.equal(of_rank_0);
}

}  // namespace hpcboot
