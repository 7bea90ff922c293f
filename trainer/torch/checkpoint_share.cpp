// Which rank writes what, and how it gets there.
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <unordered_map>
#include <utility>

#include "hpcboot/torch/sharded_checkpoint.hpp"
#include "optimizer_key.hpp"
#include "optimizer_state.hpp"
#include "record/sharded_safetensors.hpp"
#include "refusal.hpp"
#include "sharded_optimizer_impl.hpp"
#include "unit_schedule.hpp"

namespace hpcboot {
namespace {

namespace optim = torch::optim;
using Key = const c10::TensorImpl*;

Key key_of_parameter(const at::Tensor& parameter) {
  return parameter.unsafeGetTensorImpl();
}

/// The rank that writes each parameter, and the state that belongs to it.
class Owners {
 public:
  Owners(const torch::nn::Module& model, const UnitSchedule* schedule, const ProcessGroup& group) {
    const auto sizes = sizes_of_parts(schedule);
    std::vector<std::uint64_t> bytes;
    for (const auto& item : model.named_parameters()) {
      const auto [place, is_new] = index_.emplace(key_of_parameter(item.value()), bytes.size());
      if (!is_new) continue;  // one that has several names
      const auto divided = sizes.find(place->first);
      bytes.push_back(divided == sizes.end() ? item.value().nbytes() : divided->second);
    }
    ranks_ = record::spread(bytes, group.world_size());
  }

  bool has(const at::Tensor& parameter) const {
    return index_.count(key_of_parameter(parameter)) != 0;
  }
  int of(const at::Tensor& parameter) const {
    return ranks_[index_.at(key_of_parameter(parameter))];
  }

  std::vector<int> of_places(const FlatParameters& flat,
                             const std::vector<at::Tensor>& parameters) const {
    std::vector<int> ranks;
    for (const FlatPlace& place : flat.places) ranks.push_back(of(parameters[place.parameter]));
    return ranks;
  }

 private:
  /// A divided parameter has no elements of its own.
  static std::unordered_map<Key, std::uint64_t> sizes_of_parts(const UnitSchedule* schedule) {
    std::unordered_map<Key, std::uint64_t> sizes;
    if (schedule == nullptr) return sizes;
    for (const auto& unit : schedule->units()) {
      for (const ShardedFlat& flat : unit->flats()) {
        const auto& parameters = unit->parameters_of(flat).tensors;
        for (const FlatPlace& place : flat.layout.places) {
          sizes[key_of_parameter(parameters[place.parameter])] =
              static_cast<std::uint64_t>(place.count) * flat.own.dtype().itemsize();
        }
      }
    }
    return sizes;
  }

  std::unordered_map<Key, std::size_t> index_;
  std::vector<int> ranks_;
};

/// The parameters of fully_shard() that this rank writes.
std::unordered_map<Key, at::Tensor> dealt_parameters(const UnitSchedule& schedule,
                                                     const Owners& owners,
                                                     const ProcessGroup& group) {
  std::unordered_map<Key, at::Tensor> mine;
  for (const auto& unit : schedule.units()) {
    for (const ShardedFlat& flat : unit->flats()) {
      const auto& parameters = unit->parameters_of(flat).tensors;
      const auto whole = deal_shards(group, flat.layout, flat.own.to(flat.device()),
                                     owners.of_places(flat.layout, parameters));
      for (std::size_t i = 0; i < whole.size(); ++i) {
        if (!whole[i].defined()) continue;
        mine[key_of_parameter(parameters[flat.layout.places[i].parameter])] = whole[i];
      }
    }
  }
  return mine;
}

void require_of_model(const std::vector<at::Tensor>& parameters, const Owners& owners) {
  for (const at::Tensor& parameter : parameters) {
    if (owners.has(parameter)) continue;
    refuse("an optimizer with a parameter that the model does not have",
           "an optimizer of this model", "save the parts of the model one by one");
  }
}

/// The states that this rank writes.
std::unordered_map<Key, std::unique_ptr<optim::OptimizerParamState>> dealt_states(
    optim::Optimizer& optimizer, const Owners& owners, const ProcessGroup& group) {
  std::unordered_map<Key, std::unique_ptr<optim::OptimizerParamState>> mine;
  if (auto* sharded = dynamic_cast<ShardedOptimizer*>(&optimizer)) {
    auto& inside = ShardedOptimizerAccess::of(*sharded);
    require_of_model(inside.parameters, owners);
    std::vector<bool> wanted;
    for (const at::Tensor& one : inside.parameters)
      wanted.push_back(owners.of(one) == group.rank());
    auto states =
        inside.whole_states(wanted, [&](const FlatParameters& flat, const at::Tensor& shard) {
          return deal_shards(group, flat, shard, owners.of_places(flat, inside.parameters));
        });
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (states[i]) mine[key_of_parameter(inside.parameters[i])] = std::move(states[i]);
    }
    return mine;
  }
  auto& states = optimizer.state();
  for (const optim::OptimizerParamGroup& one : optimizer.param_groups()) {
    require_of_model(one.params(), owners);
    for (const at::Tensor& parameter : one.params()) {
      const auto state = states.find(key_of(states, parameter));
      if (state == states.end()) continue;
      if (!fields_of(*state->second)) {
        refuse("an optimizer whose state is unknown", "Adam, AdamW, SGD, Adagrad or RMSprop",
               "save its state in another way");
      }
      if (owners.of(parameter) == group.rank()) {
        mine[key_of_parameter(parameter)] = state->second->clone();
      }
    }
  }
  return mine;
}

}  // namespace

CheckpointShare share_for_checkpoint(const torch::nn::Module& model, optim::Optimizer* optimizer,
                                     const ProcessGroup& group) {
  const at::NoGradGuard no_grad;
  const auto* unit = dynamic_cast<const ShardUnit*>(&model);
  const UnitSchedule* schedule =
      unit != nullptr && unit->is_sharded() ? unit->schedule().get() : nullptr;
  const Owners owners(model, schedule, group);
  std::unordered_map<Key, at::Tensor> divided;
  if (schedule != nullptr) divided = dealt_parameters(*schedule, owners, group);
  CheckpointShare share;
  for (const auto& item : model.named_parameters()) {
    if (owners.of(item.value()) != group.rank()) continue;
    const auto part = divided.find(key_of_parameter(item.value()));
    share.model.push_back(
        {item.key(), part == divided.end() ? item.value().detach() : part->second});
  }
  if (group.rank() == 0) {  // those of the other ranks may differ
    for (const auto& item : model.named_buffers())
      share.model.push_back({item.key(), item.value().detach()});
  }
  if (optimizer == nullptr) return share;
  share.optimizer.emplace();
  const auto states = dealt_states(*optimizer, owners, group);
  std::unordered_map<Key, bool> is_listed;
  for (const auto& item : model.named_parameters()) {
    const Key key = key_of_parameter(item.value());
    const auto state = states.find(key);
    if (state == states.end() || std::exchange(is_listed[key], true)) continue;
    list_state(*state->second, item.key() + ".", *share.optimizer);
  }
  return share;
}

}  // namespace hpcboot
