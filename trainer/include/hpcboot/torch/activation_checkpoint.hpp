#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hpcboot/torch/fully_shard.hpp"
#include "hpcboot/torch/module_wrapper.hpp"
#include "hpcboot/torch/tensors.hpp"

namespace hpcboot {
namespace checkpoint_detail {

using Tensors = std::vector<at::Tensor>;
/// The results of a module for these input tensors.
using Forward = std::function<Tensors(const Tensors& inputs)>;

/// @param first runs now, and must not differ from `again`, which runs in the backward pass
Tensors run(const std::shared_ptr<torch::nn::Module>& module, const Forward& first, Forward again,
            const Tensors& inputs);

}  // namespace checkpoint_detail

/// Runs a module without keeping what its backward pass needs, except its inputs: the backward pass
/// computes the rest again, so that a model of N such layers keeps N inputs and the activations of
/// one layer, for one more forward pass (Chen et al., Training Deep Nets with Sublinear Memory
/// Cost, 2016; torch.utils.checkpoint in PyTorch). Gradients are those without checkpoint(), up to
/// the order of additions for tensors that are used several times.
///
///     for (auto& layer : layers) x = hpcboot::checkpoint(layer, x, mask);
///
/// The second forward pass draws the same random numbers, has the autocast of the first, and leaves
/// buffers as they were, so batch normalisation counts a batch once. It must compute the same:
/// between the passes, leave the parameters, train() or eval() and members of the module as they
/// are. Other tensors with gradients that forward uses must be arguments or registered parameters:
/// they get no gradient otherwise. Works within DistributedDataParallel, with any of its options,
/// and with fully_shard(): inside a unit, or around several of them. A parameter that the module
/// does not use has no gradient; DistributedDataParallel does not report it.
/// @param module a module holder (TORCH_MODULE) or a std::shared_ptr to a module
/// @param arguments of its forward: all of them, of types that for_each_tensor() takes
/// @return what forward returns, of such a type, too
/// @throws Error{invalid_model_use} if a module changes an input in place, for parameters with
///         hooks of Tensor::register_hook(), and for the outermost module of fully_shard(); the
///         backward pass throws it if the second results have another shape, and for create_graph
template <typename Module, typename... Arguments>
auto checkpoint(const Module& module, Arguments&&... arguments) {
  using checkpoint_detail::Tensors;
  const auto inner = wrapper_detail::pointer_to(module);
  std::tuple<std::decay_t<Arguments>...> given(std::forward<Arguments>(arguments)...);
  const Tensors inputs = tensors_of(given);
  for_each_tensor(given, [](at::Tensor& tensor) { tensor.reset(); });  // not kept twice
  const auto compute = [inner, given](const Tensors& tensors) {
    auto values = given;
    auto next = tensors.begin();
    for_each_tensor(values, [&next](at::Tensor& tensor) { tensor = *next++; });
    return std::apply([&](auto&... value) { return inner->forward(value...); }, values);
  };
  std::optional<decltype(compute(inputs))> output;
  const Tensors results = checkpoint_detail::run(
      inner,
      [&](const Tensors& tensors) {
        output = compute(tensors);
        return tensors_of(*output);
      },
      [compute](const Tensors& tensors) { return tensors_of(compute(tensors)); }, inputs);
  auto next = results.begin();
  for_each_tensor(*output, [&next](at::Tensor& tensor) { tensor = *next++; });
  return std::move(*output);
}

namespace checkpoint_detail {

template <typename Inner>
class Runner : public ModuleWrapper {
 public:
  /// The module within.
  const std::shared_ptr<Inner>& module() const { return module_; }

  template <typename... Arguments>
  auto operator()(Arguments&&... arguments) {
    return checkpoint(module_, std::forward<Arguments>(arguments)...);
  }

 protected:
  explicit Runner(std::shared_ptr<Inner> module)
      : ModuleWrapper(module), module_(std::move(module)) {
    static_assert(!std::is_base_of_v<ShardUnit, Inner>,
                  "write shard_unit(checkpointed(module)): the unit must be seen from outside");
  }

 private:
  std::shared_ptr<Inner> module_;
};

template <typename Inner>
using Base = typename wrapper_detail::ForwardOf<Runner<Inner>, Inner>::Type;

}  // namespace checkpoint_detail

/// A module that runs with checkpoint(); used as the module itself. Call it with (*module)(…) if
/// forward has default arguments.
template <typename Inner>
class Checkpointed : public checkpoint_detail::Base<Inner> {
 public:
  explicit Checkpointed(std::shared_ptr<Inner> module)
      : checkpoint_detail::Base<Inner>(std::move(module)) {}
};

/// Makes a part of a model run with checkpoint(), for example in a Sequential:
///
///     net->push_back(hpcboot::checkpointed(Block(256)));
///     net->push_back(hpcboot::shard_unit(hpcboot::checkpointed(Block(256))));
///
/// @param module a module holder (TORCH_MODULE) or a std::shared_ptr to a module
template <typename Module>
auto checkpointed(const Module& module) {
  const auto inner = wrapper_detail::pointer_to(module);
  return std::make_shared<Checkpointed<typename decltype(inner)::element_type>>(inner);
}

}  // namespace hpcboot
