// Which parameters belong to which unit.
#include "hpcboot/torch/fully_shard.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "model_agreement.hpp"
#include "model_broadcast.hpp"
#include "refusal.hpp"
#include "unit_schedule.hpp"

namespace hpcboot {
namespace {

/// The parameters of a unit, and the units in it.
struct Region {
  ShardUnit* unit;
  std::string name;  ///< "layers.0."
  std::vector<std::pair<std::string, at::Tensor>> parameters;
  std::vector<std::unique_ptr<Region>> inner;
  std::vector<ShardUnit*> sharded;  ///< before
};

void explore(const torch::nn::Module& module, const std::string& prefix, Region& region) {
  for (const auto& item : module.named_parameters(/*recurse=*/false)) {
    region.parameters.emplace_back(prefix + item.key(), item.value());
  }
  for (const auto& item : module.named_children()) {
    const std::string name = prefix + item.key() + ".";
    auto* unit = dynamic_cast<ShardUnit*>(item.value().get());
    if (unit == nullptr) {
      explore(*item.value(), name, region);
    } else if (unit->is_sharded()) {
      region.sharded.push_back(unit);
    } else {
      region.inner.push_back(std::make_unique<Region>());
      region.inner.back()->unit = unit;
      region.inner.back()->name = name;
      explore(*unit, name, *region.inner.back());
    }
  }
}

using Owners = std::unordered_map<const c10::TensorImpl*, const Region*>;

/// Leaves each parameter to the outermost unit that has it.
/// @param around the regions around this one, and itself
void settle(Region& region, std::vector<const Region*> around, Owners& owners) {
  around.push_back(&region);
  std::vector<std::pair<std::string, at::Tensor>> own;
  for (auto& parameter : region.parameters) {
    const auto [owner, is_new] = owners.emplace(parameter.second.unsafeGetTensorImpl(), &region);
    if (is_new) {
      own.push_back(parameter);
    } else if (std::find(around.begin(), around.end(), owner->second) == around.end()) {
      refuse("parameter '" + parameter.first + "', which another unit, " + owner->second->name +
                 "*, shares",
             "each parameter in one unit, or in the module around both",
             "register it in the module that contains both units as well, or make them one unit");
    }
  }
  region.parameters = std::move(own);
  for (const auto& inner : region.inner) settle(*inner, around, owners);
}

std::vector<std::string> described(const FullyShardOptions& options) {
  const auto type = [](const std::optional<at::ScalarType>& one) {
    return one ? std::string(c10::toString(*one)) : "none";
  };
  const auto flag = [](bool on) { return std::string(on ? "true" : "false"); };
  return {"option reshard_after_forward = " + flag(options.reshard_after_forward),
          "option prefetch = " + flag(options.prefetch),
          "option broadcast_buffers = " + flag(options.broadcast_buffers),
          "option compute_type = " + type(options.compute_type),
          "option reduce_type = " + type(options.reduce_type),
          "option offload_to_host = " + flag(options.offload_to_host)};
}

}  // namespace

void fully_shard_module(ShardUnit& root, const ProcessGroup& group,
                        const FullyShardOptions& options) {
  require_same_model(root, described(options), {}, group);
  Region outermost;
  outermost.unit = &root;
  explore(root, "", outermost);
  Owners owners;
  settle(outermost, {}, owners);
  auto schedule = std::make_shared<UnitSchedule>(group, options.prefetch);
  const std::function<void(const Region&)> divide = [&](const Region& region) {
    for (ShardUnit* sharded : region.sharded) {
      if (sharded->schedule_->group().c10d_group() != group.c10d_group()) {
        refuse("fully_shard() around a module that is sharded over another group",
               "one group of ranks", "pass the same group to both");
      }
      for (const auto& unit : sharded->schedule_->units()) schedule->add(unit);
      sharded->is_root_ = false;
    }
    for (const auto& inner : region.inner) divide(*inner);
    ParameterUnit::Parameters trained, frozen;
    for (const auto& [name, parameter] : region.parameters) {
      auto& list = parameter.requires_grad() ? trained : frozen;
      list.names.push_back(name);
      list.tensors.push_back(parameter);
    }
    broadcast_from(0, trained.tensors, group, "the broadcast of the model");
    broadcast_from(0, frozen.tensors, group, "the broadcast of the model");
    region.unit->unit_ =
        std::make_shared<ParameterUnit>(group, options, std::move(trained), frozen);
    schedule->add(region.unit->unit_);
  };
  divide(outermost);
  broadcast_from(0, root.buffers(), group, "the broadcast of the model");
  root.is_root_ = true;
  root.schedule_ = schedule;
  for (const auto& module : root.modules(/*include_self=*/false)) {
    if (auto* unit = dynamic_cast<ShardUnit*>(module.get())) unit->schedule_ = schedule;
  }
}

}  // namespace hpcboot
