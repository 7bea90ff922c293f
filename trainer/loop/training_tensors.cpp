#include "loop/training_tensors.hpp"

#include <fmt/format.h>
#include <torch/types.h>

#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/sharded_optimizer.hpp"
#include "json/bounded_json.hpp"
#include "torch/optimizer_key.hpp"
#include "torch/optimizer_state.hpp"

namespace hpcboot::train {
namespace {

namespace optim = torch::optim;

constexpr std::string_view kStatePrefix = "optimizer.";
/// Random generators, which earlier versions saved.
constexpr std::string_view kGeneratorPrefix = "random.";

[[noreturn]] void fail_for(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::malformed_file, "'" + file + "' has " + what,
              "a checkpoint of this model and optimizer", "resume the run that saved it");
}

[[noreturn]] void fail_for_shape(const std::string& file, const std::string& name,
                                 at::IntArrayRef found, at::IntArrayRef expected) {
  std::ostringstream text;
  text << "tensor '" << name << "' of shape " << found << ", but this model has " << expected;
  fail_for(file, text.str());
}

[[noreturn]] void fail_for_name(const std::string& file, const std::string& name) {
  fail_for(file, "tensor '" + name + "', which this model does not have");
}

[[noreturn]] void fail_for_missing(const std::string& file, const std::string& name) {
  fail_for(file, "no tensor '" + name + "'");
}

bool is_generator(const std::string& name) {
  return name.rfind(kGeneratorPrefix, 0) == 0;
}

/// Tensors by name, each of which must be taken once.
class Stock {
 public:
  Stock(const std::vector<NamedTensor>& tensors, const std::string& file) : file_(file) {
    for (const NamedTensor& one : tensors) {
      if (!is_generator(one.name)) by_name_.emplace(one.name, one.tensor);
    }
  }

  bool has(const std::string& name) const { return by_name_.count(name) != 0; }

  torch::Tensor take(const std::string& name, const at::Tensor& like) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) fail_for_missing(file_, name);
    const torch::Tensor tensor = found->second;
    if (tensor.sizes() != like.sizes()) fail_for_shape(file_, name, tensor.sizes(), like.sizes());
    by_name_.erase(found);
    return tensor;
  }

  void require_empty() const {
    if (!by_name_.empty()) fail_for_name(file_, by_name_.begin()->first);
  }

 private:
  std::map<std::string, torch::Tensor> by_name_;
  const std::string& file_;
};

/// As the optimizer would create it: on the parameter's device and with its strides. That of a
/// sharded optimizer stays on the CPU: a rank's device has memory for its part only.
torch::Tensor like(const at::Tensor& parameter, const torch::Tensor& values, bool is_sharded) {
  return is_sharded ? values : torch::empty_like(parameter.detach()).copy_(values);
}

std::unique_ptr<optim::OptimizerParamState> state_from(Stock& stock, const std::string& prefix,
                                                       const at::Tensor& parameter,
                                                       const optim::Optimizer& optimizer) {
  const auto* sharded = dynamic_cast<const ShardedOptimizer*>(&optimizer);
  auto state = new_state_of(sharded != nullptr ? sharded->local() : optimizer);
  const OptimizerState fields = *fields_of(*state);
  bool is_known = false;
  const std::string steps = prefix + kStepsField;
  if (fields.steps != nullptr && stock.has(steps)) {
    *fields.steps = stock.take(steps, torch::tensor(0, torch::kInt64)).item<std::int64_t>();
    is_known = true;
  }
  for (std::size_t i = 0; i < fields.tensors.size(); ++i) {
    const std::string name = prefix + fields.names[i];
    if (!stock.has(name)) continue;
    *fields.tensors[i] = like(parameter, stock.take(name, parameter), sharded != nullptr);
    is_known = true;
  }
  if (!is_known) return nullptr;  // no step with this parameter so far
  return state;
}

}  // namespace

std::vector<NamedTensor> training_tensors(const torch::nn::Module& model,
                                          optim::Optimizer& optimizer) {
  std::vector<NamedTensor> list;
  auto& states = optimizer.state();
  for (const auto& item : model.named_parameters()) {
    list.push_back({std::string(kModelPrefix) + item.key(), item.value().detach()});
    const auto state = states.find(key_of(states, item.value()));
    if (state == states.end()) continue;
    list_state(*state->second, std::string(kStatePrefix) + item.key() + ".", list);
  }
  for (const auto& item : model.named_buffers()) {
    list.push_back({std::string(kModelPrefix) + item.key(), item.value().detach()});
  }
  return list;
}

TrainingShapes training_shapes(const torch::nn::Module& model, const optim::Optimizer& optimizer) {
  const auto state = new_state_of(optimizer);
  const OptimizerState fields = *fields_of(*state);
  TrainingShapes shapes;
  for (const auto& item : model.named_parameters()) {
    const std::vector<std::int64_t> shape = item.value().sizes().vec();
    shapes[std::string(kModelPrefix) + item.key()] = shape;
    const std::string prefix = std::string(kStatePrefix) + item.key() + ".";
    for (const char* name : fields.names) shapes[prefix + name] = shape;
    if (fields.steps != nullptr) shapes[prefix + kStepsField] = {};
  }
  for (const auto& item : model.named_buffers())
    shapes[std::string(kModelPrefix) + item.key()] = item.value().sizes().vec();
  return shapes;
}

void require_shapes(const std::vector<record::TensorInfo>& tensors, const TrainingShapes& shapes,
                    const std::string& file) {
  constexpr std::uint64_t kMostOfGenerators = std::uint64_t{1} << 20U;  // one has 5 KB
  std::uint64_t of_generators = 0;
  std::set<std::string_view> names;
  for (const record::TensorInfo& one : tensors) {
    names.insert(one.name);
    if (is_generator(one.name)) {
      of_generators += one.end - one.begin;
      if (of_generators > kMostOfGenerators) fail_for_name(file, one.name);
      continue;
    }
    const auto known = shapes.find(one.name);
    if (known == shapes.end()) fail_for_name(file, one.name);
    if (one.shape != known->second) fail_for_shape(file, one.name, one.shape, known->second);
  }
  // The optimizer has no state of a parameter before its first step.
  for (const auto& [name, shape] : shapes) {
    if (name.rfind(kModelPrefix, 0) == 0 && names.count(name) == 0) fail_for_missing(file, name);
  }
}

void restore_training_tensors(const std::vector<NamedTensor>& tensors, torch::nn::Module& model,
                              optim::Optimizer& optimizer, const std::string& file) {
  const torch::NoGradGuard no_grad;
  Stock stock(tensors, file);
  auto& states = optimizer.state();
  std::vector<std::pair<at::Tensor, torch::Tensor>> copies;
  std::vector<std::pair<at::Tensor, std::unique_ptr<optim::OptimizerParamState>>> kept;
  for (const auto& item : model.named_parameters()) {
    copies.emplace_back(item.value(),
                        stock.take(std::string(kModelPrefix) + item.key(), item.value()));
    auto state =
        state_from(stock, std::string(kStatePrefix) + item.key() + ".", item.value(), optimizer);
    if (state) kept.emplace_back(item.value(), std::move(state));
  }
  for (const auto& item : model.named_buffers()) {
    copies.emplace_back(item.value(),
                        stock.take(std::string(kModelPrefix) + item.key(), item.value()));
  }
  stock.require_empty();

  for (auto& [to, from] : copies) to.copy_(from);
  for (auto& [parameter, state] : kept) states[key_of(states, parameter)] = std::move(state);
}

void share_tensors(std::vector<NamedTensor>& tensors, Communicator& communicator) {
  if (communicator.size() == 1) return;
  Json list = Json::array();
  for (const NamedTensor& one : tensors) {
    list.push_back(
        {one.name, static_cast<int>(one.tensor.scalar_type()), one.tensor.sizes().vec()});
  }
  list = parse_json(communicator.broadcast(json_text(list).str()));
  if (!communicator.is_first()) tensors.clear();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!communicator.is_first()) {
      const auto type = static_cast<at::ScalarType>(list[i][1].get<int>());
      tensors.push_back({list[i][0].get<std::string>(),
                         torch::empty(list[i][2].get<std::vector<std::int64_t>>(), type)});
    }
    if (tensors[i].tensor.numel() > 0) communicator.broadcast(tensors[i].tensor);
  }
}

}  // namespace hpcboot::train
