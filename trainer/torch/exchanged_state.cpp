#include "exchanged_state.hpp"

#include <torch/nn/modules/embedding.h>

#include <algorithm>
#include <unordered_set>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/unique_parameters.hpp"

namespace hpcboot {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

using TensorSet = std::unordered_set<const c10::TensorImpl*>;  // by identity

/// The weights of embeddings that ask for sparse gradients.
TensorSet sparse_weights(const torch::nn::Module& module) {
  TensorSet sparse;
  const auto add = [&](const at::Tensor& weight) { sparse.insert(weight.unsafeGetTensorImpl()); };
  for (const auto& layer : module.modules()) {
    const auto* embedding = layer->as<torch::nn::EmbeddingImpl>();
    if (embedding != nullptr && embedding->options.sparse()) add(embedding->weight);
    const auto* bag = layer->as<torch::nn::EmbeddingBagImpl>();
    if (bag != nullptr && bag->options.sparse()) add(bag->weight);
  }
  return sparse;
}

void require_known(const torch::nn::Module& module, const std::vector<std::string>& ignored) {
  const auto parameters = module.named_parameters();
  const auto buffers = module.named_buffers();
  for (const std::string& name : ignored) {
    if (parameters.contains(name) || buffers.contains(name)) continue;
    throw Error(ErrorCode::invalid_model_use,
                "'" + name + "' among ignored_parameters, which the model does not have",
                "full names of parameters and buffers, as named_parameters() lists them",
                "correct the name; one for each parameter, not the name of a layer");
  }
}

}  // namespace

std::vector<at::Tensor> unique_parameters(const torch::nn::Module& module) {
  TensorSet seen;
  std::vector<at::Tensor> unique;
  for (const at::Tensor& parameter : module.parameters()) {
    if (seen.insert(parameter.unsafeGetTensorImpl()).second) unique.push_back(parameter);
  }
  return unique;
}

ExchangedParameters exchanged_parameters(const torch::nn::Module& module,
                                         const std::vector<std::string>& ignored) {
  require_known(module, ignored);
  const auto named = module.named_parameters();
  TensorSet seen;
  for (const auto& item : named) {  // ignored under any of its names
    if (contains(ignored, item.key())) seen.insert(item.value().unsafeGetTensorImpl());
  }
  const TensorSet sparse = sparse_weights(module);
  ExchangedParameters result;
  for (const auto& item : named) {
    if (!seen.insert(item.value().unsafeGetTensorImpl()).second) continue;
    if (!item.value().requires_grad()) {
      result.frozen.emplace_back(item.key(), item.value());
      continue;
    }
    result.trained.push_back(item.value());
    result.names.push_back(item.key());
    result.sparse.push_back(sparse.count(item.value().unsafeGetTensorImpl()) != 0);
  }
  if (result.trained.empty()) {
    throw Error(ErrorCode::invalid_model_use, "a model without a parameter that requires gradients",
                "at least one", "train such a model without DistributedDataParallel");
  }
  return result;
}

std::vector<at::Tensor> exchanged_buffers(const torch::nn::Module& module,
                                          const std::vector<std::string>& ignored) {
  if (ignored.empty()) return module.buffers();
  std::vector<at::Tensor> buffers;
  for (const auto& item : module.named_buffers()) {
    if (!contains(ignored, item.key())) buffers.push_back(item.value());
  }
  return buffers;
}

}  // namespace hpcboot
