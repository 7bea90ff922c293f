#include "hpcboot/torch/activation_checkpoint.hpp"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_set>

#include "arguments.hpp"
#include "forward_state.hpp"
#include "hpcboot/torch/unique_parameters.hpp"
#include "refusal.hpp"

namespace hpcboot::checkpoint_detail {
namespace {

namespace autograd = torch::autograd;

Tensors defined_of(const Tensors& tensors) {
  Tensors defined;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined()) defined.push_back(tensor);
  }
  return defined;
}

/// What the backward pass of a checkpointed module needs besides its inputs.
struct Segment : torch::CustomClassHolder {
  /// @param inputs also undefined ones
  Segment(std::shared_ptr<torch::nn::Module> run, Forward forward, Tensors trained,
          const Tensors& inputs)
      : module(std::move(run)),
        again(std::move(forward)),
        parameters(std::move(trained)),
        settings(*module),
        random(inputs, *module),
        has_input(inputs.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) has_input[i] = inputs[i].defined();
  }

  /// With the undefined ones, which have no place in a graph.
  Tensors all_inputs(at::TensorList defined) const {
    Tensors all(has_input.size());
    auto next = defined.begin();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (has_input[i]) all[i] = *next++;
    }
    return all;
  }

  const std::shared_ptr<torch::nn::Module> module;
  const Forward again;
  const Tensors parameters;
  const ModuleSettings settings;
  RandomStates random;  ///< before the first forward pass, of the generators that it uses
  const AutocastState autocast;
  std::vector<bool> has_input;                    ///< whether this one is defined
  std::vector<std::vector<std::int64_t>> shapes;  ///< of the results
};

/// The settings of the first forward pass, while the second one runs.
class SecondPass {
 public:
  explicit SecondPass(const Segment& segment)
      : buffers_(*segment.module), random_(segment.random.now()) {
    segment.random.restore();
    segment.autocast.restore();
  }
  ~SecondPass() {
    autocast_.restore();
    random_.restore();
  }
  SecondPass(const SecondPass&) = delete;
  SecondPass& operator=(const SecondPass&) = delete;

 private:
  const BufferValues buffers_;
  const RandomStates random_;
  const AutocastState autocast_;
  const WithoutAutocastCache no_cache_;
};

void require_unchanged(at::TensorList inputs, const std::vector<std::int64_t>& versions) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (version_of(inputs[i]) == versions[i]) continue;
    refuse("checkpoint() of a module that changes input " + std::to_string(i) + " in place",
           "a module that leaves its inputs as they are, as it runs twice",
           "use an operation that is not in place, such as relu() for relu_()");
  }
}

void require_same_shapes(const Segment& segment, const Tensors& results) {
  const auto text = [](const std::vector<std::vector<std::int64_t>>& shapes) {
    std::string all;
    for (const auto& shape : shapes) all += (all.empty() ? "" : ", ") + shape_text(shape);
    return all;
  };
  std::vector<std::vector<std::int64_t>> found;
  for (const at::Tensor& result : results) found.push_back(result.sizes().vec());
  if (found == segment.shapes) return;
  refuse("results of shape " + text(found) + " in the second forward pass of checkpoint()",
         text(segment.shapes) + ", as in the first one",
         "let forward depend on its arguments and parameters alone");
}

/// As without checkpoint(), where the graph holds the results, not the module: results that are
/// memory of their own are handed out as other tensors, so that a module may keep them.
void separate(Tensors& results, at::TensorList inputs, at::TensorList parameters) {
  const auto has_memory = [](const at::Tensor& tensor) { return tensor.has_storage(); };
  for (at::Tensor& result : results) {
    if (!has_memory(result)) continue;
    const auto shares = [&](const at::Tensor& other) {
      return has_memory(other) && other.is_alias_of(result);
    };
    const auto same = std::count_if(results.begin(), results.end(), shares);  // and itself
    if (same == 1 && std::none_of(inputs.begin(), inputs.end(), shares) &&
        std::none_of(parameters.begin(), parameters.end(), shares)) {
      result = result.variable_data();
    }
  }
}

/// Their gradients would be lost.
void refuse_other_leaves(const Tensors& results, const Tensors& wanted) {
  std::unordered_set<decltype(autograd::Edge::function)> seen;
  for (const at::Tensor& tensor : wanted) {
    seen.insert(autograd::impl::gradient_edge(tensor).function);
  }
  std::vector<const autograd::Node*> next;
  const auto visit = [&](const autograd::Edge& edge) {
    if (edge.is_valid() && seen.insert(edge.function).second) next.push_back(edge.function.get());
  };
  for (const at::Tensor& result : results) visit(autograd::impl::gradient_edge(result));
  while (!next.empty()) {
    const autograd::Node& node = *next.back();
    next.pop_back();
    if (const auto* leaf = dynamic_cast<const autograd::AccumulateGrad*>(&node)) {
      refuse("checkpoint() of a module that uses a tensor of shape " +
                 shape_text(leaf->variable.sizes().vec()) +
                 " that needs a gradient, and is neither an argument nor a parameter of it",
             "arguments and registered parameters, as only these get their gradients",
             "register it with register_parameter(), or pass it to forward");
    }
    for (const autograd::Edge& edge : node.next_edges()) visit(edge);
  }
}

std::string name_of(const at::Tensor& parameter, const torch::nn::Module& module) {
  for (const auto& item : module.named_parameters()) {
    if (item.value().is_same(parameter)) return item.key();
  }
  return "";
}

void refuse_hooks(const Tensors& parameters, const torch::nn::Module& module) {
  for (const at::Tensor& parameter : parameters) {
    if (autograd::impl::hooks(parameter).empty()) continue;
    refuse("checkpoint() of a module whose parameter '" + name_of(parameter, module) +
               "' has or had a hook",
           "parameters without hooks, which would see a gradient twice",
           "change the gradient between backward() and the optimizer's step");
  }
}

struct Function : autograd::Function<Function> {
  /// The parameters are arguments, so that their gradients leave through the graph around.
  static Tensors forward(autograd::AutogradContext* context,
                         const c10::intrusive_ptr<Segment>& segment, const Forward* first,
                         at::TensorList inputs, at::TensorList parameters) {
    context->save_for_backward(inputs.vec());
    context->saved_data["segment"] = at::IValue::make_capsule(segment);
    context->set_materialize_grads(false);
    std::vector<std::int64_t> versions;
    for (const at::Tensor& input : inputs) versions.push_back(version_of(input));
    Tensors results;
    {
      const WithoutAutocastCache no_cache;
      results = defined_of((*first)(segment->all_inputs(inputs)));
    }
    require_unchanged(inputs, versions);
    segment->random.keep_used();
    for (const at::Tensor& result : results) segment->shapes.push_back(result.sizes().vec());
    separate(results, inputs, parameters);
    return results;
  }

  static Tensors backward(autograd::AutogradContext* context, const Tensors& gradients) {
    if (at::GradMode::is_enabled()) {
      refuse("a backward pass with create_graph through checkpoint()",
             "one whose gradients need no gradients themselves",
             "do not use checkpoint() for a loss that depends on gradients");
    }
    const auto& segment = static_cast<const Segment&>(*context->saved_data["segment"].toCapsule());
    Tensors inputs;
    for (const at::Tensor& saved : context->get_saved_variables()) {
      inputs.push_back(saved.detach().requires_grad_(saved.requires_grad()));
    }
    Tensors of_all = gradients_of(segment, inputs, gradients);
    of_all.insert(of_all.begin(), 2, at::Tensor());  // the arguments that are no tensors
    return of_all;
  }

  /// Those of inputs and parameters.
  static Tensors gradients_of(const Segment& segment, const Tensors& inputs,
                              const Tensors& gradients) {
    refuse_hooks(segment.parameters, *segment.module);
    segment.settings.require_same(*segment.module);
    const at::AutoGradMode with_graph(true);
    Tensors results;
    {
      const SecondPass second(segment);
      results = defined_of(segment.again(segment.all_inputs(inputs)));
    }
    require_same_shapes(segment, results);
    Tensors from, with;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!gradients[i].defined() || !results[i].requires_grad()) continue;
      from.push_back(results[i]);
      with.push_back(gradients[i]);
    }
    Tensors all = inputs;
    all.insert(all.end(), segment.parameters.begin(), segment.parameters.end());
    std::vector<std::size_t> places;
    Tensors wanted;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].requires_grad()) continue;
      places.push_back(i);
      wanted.push_back(all[i]);
    }
    Tensors found(all.size());
    refuse_other_leaves(from, wanted);
    if (from.empty() || wanted.empty()) return found;
    results.clear();
    const Tensors computed =
        autograd::grad(from, wanted, with, /*retain_graph=*/false, /*create_graph=*/false,
                       /*allow_unused=*/true);
    for (std::size_t i = 0; i < places.size(); ++i) found[places[i]] = computed[i];
    return found;
  }
};

Tensors trained_parameters(const torch::nn::Module& module) {
  Tensors trained;
  for (const at::Tensor& parameter : unique_parameters(module)) {
    if (parameter.requires_grad()) trained.push_back(parameter);
  }
  return trained;
}

}  // namespace

Tensors run(const std::shared_ptr<torch::nn::Module>& module, const Forward& first, Forward again,
            const Tensors& inputs) {
  const auto* unit = dynamic_cast<const ShardUnit*>(module.get());
  if (unit != nullptr && unit->is_outermost()) {
    refuse("checkpoint() of the module that fully_shard() returned",
           "checkpoint() of the layers in it", "use checkpointed() where the model is made");
  }
  if (!at::GradMode::is_enabled()) return first(inputs);
  Tensors parameters = trained_parameters(*module);
  refuse_hooks(parameters, *module);
  const bool has_gradient = std::any_of(inputs.begin(), inputs.end(), [](const at::Tensor& input) {
    return input.defined() && input.requires_grad();
  });
  if (parameters.empty() && !has_gradient) return first(inputs);
  const auto segment = c10::make_intrusive<Segment>(module, std::move(again), parameters, inputs);
  Tensors all;
  const Forward recorded = [&](const Tensors& tensors) { return all = first(tensors); };
  const Tensors given = defined_of(inputs);
  const Tensors defined =
      Function::apply(segment, &recorded, at::TensorList(given), at::TensorList(parameters));
  auto next = defined.begin();
  for (at::Tensor& result : all) {
    if (result.defined()) result = *next++;
  }
  return all;
}

}  // namespace hpcboot::checkpoint_detail
