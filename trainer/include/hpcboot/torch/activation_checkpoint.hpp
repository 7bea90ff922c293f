#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>
#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
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

/// std::string_view and c10::string_view
template <typename Value, typename = void>
constexpr bool is_text_view = false;
template <typename Value>
constexpr bool is_text_view<Value, std::void_t<decltype(std::declval<Value&>().remove_prefix(1))>> =
    true;
template <typename Value>
constexpr bool is_array_view = false;
template <typename Element>
constexpr bool is_array_view<c10::ArrayRef<Element>> = true;

/// False for types that refer to memory which may be gone in the backward pass.
template <typename Value, typename = void>
constexpr bool owns = !std::is_pointer_v<Value> && !is_text_view<Value> && !is_array_view<Value>;
template <typename Value>
constexpr bool owns<std::reference_wrapper<Value>> = false;
template <typename Value>
constexpr bool owns<Value, std::enable_if_t<tensors_detail::is_optional<Value>>> =
    owns<std::decay_t<decltype(*std::declval<Value&>())>>;
template <typename Element, typename Allocator>
constexpr bool owns<std::vector<Element, Allocator>> = owns<Element>;
template <typename First, typename Second>
constexpr bool owns<std::pair<First, Second>> = owns<First>&& owns<Second>;
template <typename... Parts>
constexpr bool owns<std::tuple<Parts...>> = (owns<Parts> && ...);

/// A copy of an argument for the second forward pass; of what a view shows.
template <typename Value>
auto keep(Value&& value) {
  using Plain = std::decay_t<Value>;
  if constexpr (is_array_view<Plain>) {
    return value.vec();
  } else if constexpr (is_text_view<Plain>) {
    return std::string(value.data(), value.size());
  } else if constexpr (std::is_same_v<Plain, const char*> || std::is_same_v<Plain, char*>) {
    return std::string(value);
  } else {
    static_assert(owns<Plain>,
                  "checkpoint() keeps its arguments for the backward pass: pass values, not "
                  "pointers or views");
    return Plain(std::forward<Value>(value));
  }
}

/// @param first runs now
/// @param again computes the same, in the backward pass
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
/// are. Threads that share a device draw from one generator, so with dropout in DataParallel on
/// several replicas of one device, the numbers may differ. Works within DistributedDataParallel,
/// with any of its options, and with fully_shard(): inside a unit, or around several of them, whose
/// weights are then gathered once more. A parameter that the module does not use has no gradient;
/// DistributedDataParallel does not report it. Results that forward detaches require gradients
/// here, of which nothing arrives at the module.
/// @param module a module holder (TORCH_MODULE) or a std::shared_ptr to a module
/// @param arguments of its forward: all of them, of types that for_each_tensor() takes
/// @return what forward returns, of such a type, too
/// @throws Error{invalid_model_use} if a module changes an input in place, for parameters with
///         hooks of Tensor::register_hook(), and for the outermost module of fully_shard(). The
///         backward pass throws it if parameters or train() have changed, the second results have
///         another shape, or forward uses other tensors that need gradients, and for create_graph
template <typename Module, typename... Arguments>
auto checkpoint(const Module& module, Arguments&&... arguments) {
  using checkpoint_detail::Tensors;
  const auto inner = wrapper_detail::pointer_to(module);
  auto given = std::make_tuple(checkpoint_detail::keep(std::forward<Arguments>(arguments))...);
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
