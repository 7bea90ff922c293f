#include "torch/pytorch/recorded.hpp"

#include <gtest/gtest.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <cmath>

#include "hpcboot/torch/collectives.hpp"
#include "hpcboot/torch/unique_parameters.hpp"
#include "json/bounded_json.hpp"
#include "support/paths.hpp"

namespace hpcboot::pytorch {
namespace {

/// Where HPCBOOT_TEST_RECORDED is recorded.json.
const Json& recorded() {
  static const Json file =
      read_json_file(test::source_file("tests/torch/pytorch/recorded.json")).at("scenarios");
  return file;
}

std::string ranks() {
  return std::to_string(world->world_size());
}

}  // namespace

std::string why_not_recorded() {
  if (recorded().begin().value().contains(ranks())) return {};
  return "record.py has recorded no figures of " + ranks() + " ranks";
}

void expect_recorded(const std::string& scenario, const Figures& found, double tolerance) {
  ASSERT_TRUE(recorded().contains(scenario)) << scenario;
  const Json& expected = recorded().at(scenario).at(ranks());
  ASSERT_EQ(found.size(), expected.size()) << scenario;
  for (const auto& [key, numbers] : found) {
    ASSERT_TRUE(expected.contains(key)) << key;
    const auto wanted = expected.at(key).get<std::vector<double>>();
    ASSERT_EQ(numbers.size(), wanted.size()) << key;
    double largest = 1;
    double difference = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      largest = std::max(largest, std::abs(wanted[i]));
      difference = std::max(difference, std::abs(numbers[i] - wanted[i]));
    }
    EXPECT_LE(difference, tolerance * largest) << key;
  }
}

torch::Tensor filled(at::IntArrayRef shape, std::int64_t seed, at::ScalarType type) {
  const torch::Tensor index = torch::arange(c10::multiply_integers(shape), at::kDouble);
  return (index * 1.3 + 0.7 * static_cast<double>(seed) + 0.1).sin().to(type).reshape(shape);
}

void fill(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  std::int64_t seed = std::int64_t{50} * world->rank();
  for (torch::Tensor& parameter : unique_parameters(module)) {
    parameter.copy_(filled(parameter.sizes(), seed++) * 0.5);
  }
}

torch::Tensor batch(int step, int part) {
  return filled({3, 4}, 100 + 10 * step + world->rank() + 1000 * part);
}

double mean_over_ranks(const torch::Tensor& value) {
  const torch::Tensor sum = value.detach().to(at::kDouble).clone();
  all_reduce(*world, sum).wait();
  return sum.item<double>() / world->world_size();
}

std::vector<double> values(const std::vector<torch::Tensor>& tensors) {
  std::vector<double> all;
  for (const torch::Tensor& tensor : tensors) {
    const torch::Tensor flat = tensor.detach().to(at::kDouble).contiguous();
    all.insert(all.end(), flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
  }
  return all;
}

std::vector<double> of_all_ranks(const std::vector<torch::Tensor>& tensors) {
  const std::vector<double> mine = values(tensors);
  const auto count = static_cast<std::int64_t>(mine.size());
  const torch::Tensor all = torch::zeros({world->world_size(), count}, at::kDouble);
  all[world->rank()].copy_(torch::tensor(mine, at::kDouble));
  all_reduce(*world, all).wait();
  return values({all});
}

std::vector<torch::Tensor> gradients(const torch::nn::Module& module) {
  std::vector<torch::Tensor> all;
  for (const torch::Tensor& parameter : unique_parameters(module)) all.push_back(parameter.grad());
  return all;
}

torch::Tensor train_step(const std::vector<torch::Tensor>& parameters, const Loss& loss_of) {
  torch::optim::SGD optimizer(parameters, kRate);
  for (torch::Tensor parameter : parameters) parameter.mutable_grad().reset();
  torch::Tensor loss = loss_of();
  loss.backward();
  optimizer.step();
  return loss;
}

Figures train(const torch::nn::Module& module, const LossOfStep& loss_of, int first, int end) {
  std::vector<torch::Tensor> trained;
  for (const torch::Tensor& parameter : unique_parameters(module)) {
    if (parameter.requires_grad()) trained.push_back(parameter);
  }
  Figures figures;
  for (int step = first; step < end; ++step) {
    const torch::Tensor loss = train_step(trained, [&] { return loss_of(step); });
    figures["losses"].push_back(mean_over_ranks(loss));
  }
  figures["parameters"] = values(trained);
  return figures;
}

}  // namespace hpcboot::pytorch
