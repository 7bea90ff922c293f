#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "torch/world.hpp"

// What record.py has, for the same scenarios in C++.
namespace hpcboot::pytorch {

constexpr int kSteps = 4;
constexpr double kRate = 0.1;

/// Lists of numbers by name: "losses", "parameters".
using Figures = std::map<std::string, std::vector<double>>;

/// Compares with the figures that PyTorch computed on as many ranks.
/// @param tolerance relative to the largest number of a list
void expect_recorded(const std::string& scenario, const Figures& found, double tolerance = 2e-6);

/// Why the ranks of this launch have no recorded figures; empty if they have some.
std::string why_not_recorded();

/// The formula of weights and inputs.
torch::Tensor filled(at::IntArrayRef shape, std::int64_t seed, at::ScalarType type = at::kFloat);
/// Other weights on each rank: DistributedDataParallel takes over those of rank 0.
void fill(torch::nn::Module& module);
/// This rank's inputs of a step.
torch::Tensor batch(int step, int part = 0);

double mean_over_ranks(const torch::Tensor& value);
std::vector<double> of_all_ranks(const std::vector<torch::Tensor>& tensors);
std::vector<double> values(const std::vector<torch::Tensor>& tensors);
std::vector<torch::Tensor> gradients(const torch::nn::Module& module);

using Loss = std::function<torch::Tensor()>;
using LossOfStep = std::function<torch::Tensor(int step)>;

/// One step of SGD. @return the loss of this rank
torch::Tensor train_step(const std::vector<torch::Tensor>& parameters, const Loss& loss_of);
/// The figures of training the module with SGD.
Figures train(const torch::nn::Module& module, const LossOfStep& loss_of, int first = 0,
              int end = kSteps);

/// Fills the model and wraps it.
template <typename Module>
DistributedDataParallel<Module> wrap(Module model,
                                     const DistributedDataParallelOptions& options = {}) {
  fill(*model);
  return DistributedDataParallel<Module>(model, *world, options);
}

}  // namespace hpcboot::pytorch

/// The test of a row of trainer/ddp.md. Without figures for this number of ranks, it is skipped.
#define RECORDED_TEST(name)                                           \
  static void record_##name();                                        \
  TEST(PyTorchTable, name) {                                          \
    const std::string why_not = hpcboot::pytorch::why_not_recorded(); \
    if (!why_not.empty()) GTEST_SKIP() << why_not;                    \
    record_##name();                                                  \
  }                                                                   \
  static void record_##name()
