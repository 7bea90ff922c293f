#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "arguments.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/sharded_checkpoint.hpp"
#include "optimizer_key.hpp"
#include "optimizer_state.hpp"
#include "record/sharded_safetensors.hpp"
#include "refusal.hpp"
#include "sharded_optimizer_impl.hpp"
#include "tensor_types.hpp"
#include "unit_schedule.hpp"

namespace hpcboot {
namespace {

namespace optim = torch::optim;
using Key = const c10::TensorImpl*;
using Shape = std::vector<std::int64_t>;

Error unsuitable(const std::filesystem::path& folder, const std::string& found) {
  return Error(ErrorCode::malformed_file, "'" + folder.string() + "' has " + found,
               "a checkpoint of this model and optimizer", "load the one that was saved from them");
}

/// The tensors of an index.
class Source {
 public:
  Source(const std::filesystem::path& folder, const char* stem)
      : folder_(folder), files_(folder, stem) {}

  const record::ShardedSafetensors& files() const { return files_; }
  bool has(const std::string& name) const { return files_.tensors().count(name) != 0; }

  void require(const std::string& name, const Shape& shape) const {
    const auto found = files_.tensors().find(name);
    if (found == files_.tensors().end()) throw unsuitable(folder_, "no tensor '" + name + "'");
    if (found->second.shape == shape) return;
    throw unsuitable(folder_, "tensor '" + name + "' of shape " + shape_text(found->second.shape) +
                                  ", but this model has " + shape_text(shape));
  }

  at::Tensor whole(const std::string& name) const {
    const record::TensorInfo& info = files_.tensors().at(name);
    at::Tensor tensor = at::empty(info.shape, type_of(info.dtype));
    if (tensor.numel() > 0) files_.read(name, tensor.data_ptr());
    return tensor;
  }

  /// The elements of a piece of a parameter in this place.
  at::Tensor piece(const std::string& name, const FlatPlace& place, const ShardPiece& piece) const {
    const record::TensorInfo& info = files_.tensors().at(name);
    at::Tensor elements = at::empty({piece.count}, type_of(info.dtype));
    if (at::empty_strided(place.sizes, place.strides, at::kMeta).is_contiguous()) {
      const std::uint64_t size = elements.dtype().itemsize();
      files_.read_part(name, static_cast<std::uint64_t>(piece.in_parameter) * size,
                       static_cast<std::uint64_t>(piece.count) * size, elements.data_ptr());
      return elements;
    }
    const at::Tensor all = whole(name);
    const at::Tensor dense =
        at::empty_strided(place.sizes, place.strides, all.options()).copy_(all);
    return in_memory_order(dense).narrow(0, piece.in_parameter, piece.count);
  }

 private:
  const std::filesystem::path& folder_;
  record::ShardedSafetensors files_;
};

/// A model's parameters: their names, and where they are.
struct Parameters {
  explicit Parameters(torch::nn::Module& module) : model(module) {
    auto* unit = dynamic_cast<ShardUnit*>(&module);
    if (unit != nullptr && unit->is_sharded()) schedule = unit->schedule();
    for (const auto& item : model.named_parameters()) {
      const Key key = item.value().unsafeGetTensorImpl();
      names.emplace(key, item.key());  // the first name, if it has several
      shapes[item.key()] = item.value().sizes().vec();
    }
    if (!schedule) return;
    for (const auto& inner : schedule->units()) {
      for (const ShardedFlat& flat : inner->flats()) {
        for (const FlatPlace& place : flat.layout.places) {
          divided[inner->parameters_of(flat).tensors[place.parameter].unsafeGetTensorImpl()] =
              place.sizes;
        }
      }
    }
    for (const auto& item : model.named_parameters()) {
      const auto found = divided.find(item.value().unsafeGetTensorImpl());
      if (found != divided.end()) shapes[item.key()] = found->second;
    }
  }

  torch::nn::Module& model;
  std::shared_ptr<UnitSchedule> schedule;  // null if they are whole
  std::unordered_map<Key, std::string> names;
  std::map<std::string, Shape> shapes;

 private:
  std::unordered_map<Key, Shape> divided;
};

void require_model(const Parameters& parameters, const Source& source,
                   const std::filesystem::path& folder) {
  std::map<std::string, Shape> expected = parameters.shapes;
  for (const auto& item : parameters.model.named_buffers()) {
    expected[item.key()] = item.value().sizes().vec();
  }
  for (const auto& [name, shape] : expected) source.require(name, shape);
  for (const auto& [name, info] : source.files().tensors()) {
    if (expected.count(name) != 0) continue;
    throw unsuitable(folder, "tensor '" + name + "', which this model does not have");
  }
}

void load_model(const Parameters& parameters, const Source& source) {
  for (const auto& item : parameters.model.named_buffers()) {
    at::Tensor buffer = item.value();
    buffer.copy_(source.whole(item.key()));
  }
  if (!parameters.schedule) {
    for (const auto& item : parameters.model.named_parameters()) {
      at::Tensor parameter = item.value().detach();
      parameter.copy_(source.whole(item.key()));
    }
    return;
  }
  for (const auto& unit : parameters.schedule->units()) {
    for (const ShardedFlat& flat : unit->flats()) {
      std::vector<const FlatPlace*> places(unit->parameters_of(flat).tensors.size());
      for (const FlatPlace& place : flat.layout.places) places[place.parameter] = &place;
      for (const ShardPiece& piece : flat.pieces) {
        const at::Tensor& parameter = unit->parameters_of(flat).tensors[piece.parameter];
        const std::string& name = parameters.names.at(parameter.unsafeGetTensorImpl());
        at::Tensor own = flat.own.narrow(0, piece.in_shard, piece.count);
        own.copy_(source.piece(name, *places[piece.parameter], piece));
      }
    }
  }
}

/// The state of one parameter; null if the files have none. `read` returns a field's tensor.
std::unique_ptr<optim::OptimizerParamState> read_state(
    const Source& source, const std::string& parameter, const optim::OptimizerParamState& like,
    const std::function<at::Tensor(const std::string& name)>& read) {
  auto state = like.clone();
  const auto fields = *fields_of(*state);
  bool is_known = false;
  const std::string steps = parameter + "." + kStepsField;
  if (fields.steps != nullptr && source.has(steps)) {
    *fields.steps = source.whole(steps).item<std::int64_t>();
    is_known = true;
  }
  for (std::size_t i = 0; i < fields.tensors.size(); ++i) {
    const std::string name = parameter + "." + fields.names[i];
    *fields.tensors[i] = source.has(name) ? read(name) : at::Tensor();
    is_known = is_known || source.has(name);
  }
  return is_known ? std::move(state) : nullptr;
}

/// What an optimizer keeps of a parameter, empty.
std::unique_ptr<optim::OptimizerParamState> empty_state(const optim::Optimizer& optimizer) {
  const auto* sharded = dynamic_cast<const ShardedOptimizer*>(&optimizer);
  auto state = new_state_of(sharded == nullptr ? optimizer : sharded->local());
  if (!state) {
    refuse("an optimizer whose state is unknown", "Adam, AdamW, SGD, Adagrad or RMSprop",
           "load its state in another way");
  }
  return state;
}

/// @return the tensors that belong to no parameter
std::vector<std::string> require_state(const Parameters& parameters, const Source& source,
                                       optim::OptimizerParamState& kind,
                                       const std::filesystem::path& folder) {
  const auto fields = *fields_of(kind);
  std::vector<std::string> others;
  for (const auto& [name, info] : source.files().tensors()) {
    const std::size_t dot = name.rfind('.');
    const auto shape = parameters.shapes.find(name.substr(0, dot));
    if (dot == std::string::npos || shape == parameters.shapes.end()) {
      others.push_back(name);
      continue;
    }
    const std::string field = name.substr(dot + 1);
    if (fields.steps != nullptr && field == kStepsField) {
      source.require(name, {});
      continue;
    }
    if (std::find(fields.names.begin(), fields.names.end(), field) == fields.names.end()) {
      throw unsuitable(folder, "tensor '" + name + "', which this optimizer does not have");
    }
    source.require(name, shape->second);
  }
  return others;
}

void load_state(const Parameters& parameters, const Source& source,
                const optim::OptimizerParamState& kind, ShardedOptimizer& optimizer) {
  auto& inside = ShardedOptimizerAccess::of(optimizer);
  std::vector<const FlatPlace*> places(inside.parameters.size());
  for (const FlatParameters& flat : inside.flats) {
    for (const FlatPlace& place : flat.places) places[place.parameter] = &place;
  }
  auto& states = inside.local->state();
  for (const OwnPiece& own : inside.pieces) {
    const Key key = inside.parameters[own.piece.parameter].unsafeGetTensorImpl();
    const FlatPlace& place = *places[own.piece.parameter];
    auto state = read_state(source, parameters.names.at(key), kind, [&](const std::string& name) {
      return source.piece(name, place, own.piece).to(own.leaf.options());
    });
    if (state) {
      states[key_of(states, own.leaf)] = std::move(state);
    } else {
      states.erase(key_of(states, own.leaf));
    }
  }
}

void load_state(const Parameters& parameters, const Source& source,
                const optim::OptimizerParamState& kind, optim::Optimizer& optimizer) {
  auto& states = optimizer.state();
  for (const optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      const std::string& name = parameters.names.at(parameter.unsafeGetTensorImpl());
      auto state = read_state(source, name, kind, [&](const std::string& field) {
        return at::empty_like(parameter.detach()).copy_(source.whole(field));
      });
      if (state) {
        states[key_of(states, parameter)] = std::move(state);
      } else {
        states.erase(key_of(states, parameter));
      }
    }
  }
}

void require_parameters_of(const Parameters& model, optim::Optimizer& optimizer) {
  const auto require = [&](const std::vector<at::Tensor>& all) {
    for (const at::Tensor& one : all) {
      if (model.names.count(one.unsafeGetTensorImpl()) != 0) continue;
      refuse("an optimizer with a parameter that the model does not have",
             "an optimizer of this model", "pass the module that has all of its parameters");
    }
  };
  if (auto* sharded = dynamic_cast<ShardedOptimizer*>(&optimizer)) {
    require(ShardedOptimizerAccess::of(*sharded).parameters);
    return;
  }
  for (const optim::OptimizerParamGroup& group : optimizer.param_groups()) require(group.params());
}

}  // namespace

LoadedCheckpoint load_sharded(const std::filesystem::path& folder, torch::nn::Module& model,
                              optim::Optimizer* optimizer) {
  const at::NoGradGuard no_grad;
  const Parameters parameters(model);
  const Source weights(folder, record::kModelStem);
  require_model(parameters, weights, folder);
  LoadedCheckpoint loaded{weights.files().metadata(), {}};
  if (optimizer == nullptr) {
    load_model(parameters, weights);
    return loaded;
  }
  require_parameters_of(parameters, *optimizer);
  const Source states(folder, record::kOptimizerStem);
  const auto kind = empty_state(*optimizer);
  const std::vector<std::string> others = require_state(parameters, states, *kind, folder);
  load_model(parameters, weights);
  if (auto* sharded = dynamic_cast<ShardedOptimizer*>(optimizer)) {
    load_state(parameters, states, *kind, *sharded);
  } else {
    load_state(parameters, states, *kind, *optimizer);
  }
  for (const std::string& name : others) loaded.others.push_back({name, states.whole(name)});
  return loaded;
}

}  // namespace hpcboot
