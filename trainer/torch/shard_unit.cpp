#include "hpcboot/torch/fully_shard.hpp"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <unordered_map>

#include "arguments.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "model_broadcast.hpp"
#include "refusal.hpp"
#include "shards.hpp"
#include "unit_schedule.hpp"

namespace hpcboot {

WholeParameters::WholeParameters(std::shared_ptr<UnitSchedule> schedule)
    : schedule_(std::move(schedule)) {
  schedule_->keep();
}
WholeParameters::~WholeParameters() {
  try {
    if (schedule_) schedule_->drop();
  } catch (...) {
    // A gather under way has lost a rank: the next forward reports it.
  }
}

NoReduction::NoReduction(std::shared_ptr<UnitSchedule> schedule)
    : schedule_(std::move(schedule)), before_(schedule_->is_reducing()) {
  schedule_->set_reducing(false);
}
NoReduction::~NoReduction() {
  if (schedule_) schedule_->set_reducing(before_);
}

void ShardUnit::zero_grad(bool set_to_none) {
  Module::zero_grad(set_to_none);
  if (!is_sharded()) return;
  for (const ShardedFlat& flat : unit_->flats()) {
    for (at::Tensor leaf : flat.leaves) {
      if (!leaf.grad().defined()) continue;
      if (set_to_none) {
        leaf.mutable_grad().reset();
      } else {
        leaf.mutable_grad().zero_();
      }
    }
  }
}

void ShardUnit::save(torch::serialize::OutputArchive& archive) const {
  if (is_sharded()) {
    refuse("save() of a module after fully_shard()",
           "a checkpoint of what gather_parameters() collects",
           "call gather_parameters() on every rank, and save on one");
  }
  ModuleWrapper::save(archive);
}

void ShardUnit::load(torch::serialize::InputArchive& archive) {
  if (is_sharded()) {
    refuse("load() of a module after fully_shard()", "scatter_parameters()",
           "load before fully_shard(), or pass whole parameters to scatter_parameters()");
  }
  ModuleWrapper::load(archive);
}

const std::shared_ptr<UnitSchedule>& ShardUnit::schedule() const {
  if (schedule_ && is_root_) return schedule_;
  refuse(schedule_ ? "a part of a module of fully_shard()" : "a module that is not sharded",
         "the module that fully_shard() returned", "call it on the outermost module");
}

std::vector<at::Tensor> ShardUnit::shards() const {
  std::vector<at::Tensor> all;
  for (const auto& unit : schedule()->units()) {
    for (const ShardedFlat& flat : unit->flats()) {
      if (flat.is_trained) all.insert(all.end(), flat.leaves.begin(), flat.leaves.end());
    }
  }
  return all;
}

std::int64_t ShardUnit::shard_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& unit : schedule()->units()) {
    for (const ShardedFlat& flat : unit->flats()) {
      bytes += static_cast<std::int64_t>(flat.own.nbytes());
    }
  }
  return bytes;
}

double ShardUnit::seconds_waited() const {
  double seconds = 0;
  for (const auto& unit : schedule()->units()) seconds += unit->waited();
  return seconds;
}

WholeParameters ShardUnit::keep_whole() {
  return WholeParameters(schedule());
}
NoReduction ShardUnit::no_sync() {
  return NoReduction(schedule());
}

double ShardUnit::clip_grad_norm(double max_norm) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> own = shards();
  const at::Device device = own.empty() ? at::Device(at::kCPU) : own.front().device();
  at::Tensor squares = at::zeros({1}, at::TensorOptions(at::kDouble).device(device));
  for (const at::Tensor& leaf : own) {
    if (!leaf.grad().defined()) continue;
    squares.add_(leaf.grad().norm().to(at::kDouble).square());
  }
  squares = squares.to(schedule()->device());
  const double norm = std::sqrt(all_reduce(schedule()->group(), squares).wait().item<double>());
  const double scale = max_norm / (norm + 1e-6);  // as torch::nn::utils::clip_grad_norm_()
  if (!(scale < 1)) return norm;
  for (const at::Tensor& leaf : own) {
    if (at::Tensor gradient = leaf.grad(); gradient.defined()) gradient.mul_(scale);
  }
  return norm;
}

torch::OrderedDict<std::string, at::Tensor> ShardUnit::gather_parameters(int root) const {
  const at::NoGradGuard no_grad;
  const ProcessGroup& group = schedule()->group();
  std::unordered_map<const c10::TensorImpl*, at::Tensor> whole;
  for (const auto& unit : schedule()->units()) {
    for (const ShardedFlat& flat : unit->flats()) {
      const at::Tensor all = collect_shards(group, flat.own.to(flat.device()), root);
      if (!all.defined()) continue;
      for (const FlatPlace& place : flat.layout.places) {
        const at::Tensor& parameter = unit->parameters_of(flat).tensors[place.parameter];
        whole[parameter.unsafeGetTensorImpl()] = place.in(all);
      }
    }
  }
  torch::OrderedDict<std::string, at::Tensor> named;
  if (group.rank() != root) return named;
  for (const auto& item : named_parameters()) {
    named.insert(item.key(), whole.at(item.value().unsafeGetTensorImpl()));
  }
  return named;
}

void ShardUnit::scatter_parameters(const torch::OrderedDict<std::string, at::Tensor>& parameters) {
  const at::NoGradGuard no_grad;
  std::unordered_map<const c10::TensorImpl*, at::Tensor> whole;
  for (const auto& item : named_parameters()) {
    const at::Tensor* found = parameters.find(item.key());
    if (found == nullptr) {
      refuse("no parameter '" + item.key() + "'", "all parameters of the module",
             "pass what gather_parameters() returns on its root");
    }
    whole[item.value().unsafeGetTensorImpl()] = *found;
  }
  const auto given_for = [&](const ParameterUnit& unit, const ShardedFlat& flat,
                             const FlatPlace& place) -> const at::Tensor& {
    return whole.at(unit.parameters_of(flat).tensors[place.parameter].unsafeGetTensorImpl());
  };
  for (const auto& unit : schedule()->units()) {
    for (const ShardedFlat& flat : unit->flats()) {
      for (const FlatPlace& place : flat.layout.places) {
        const at::Tensor& given = given_for(*unit, flat, place);
        if (given.sizes() == at::IntArrayRef(place.sizes)) continue;
        refuse("parameter '" + unit->parameters_of(flat).names[place.parameter] + "' of shape " +
                   shape_text(given),
               "the shape that it has in the module", "pass the parameters of the same model");
      }
    }
  }
  for (const auto& unit : schedule()->units()) {
    for (const ShardedFlat& flat : unit->flats()) {
      const at::Tensor all =
          at::zeros(flat.layout.elements.sizes(), flat.own.options().device(at::kCPU));
      for (const FlatPlace& place : flat.layout.places) {
        place.in(all).copy_(given_for(*unit, flat, place));
      }
      const std::int64_t shard = flat.layout.shard;
      flat.own.copy_(all.narrow(0, schedule()->group().rank() * shard, shard));
    }
  }
}

ShardUnit::Pass::Pass(ShardUnit& unit) : unit_(unit) {
  UnitSchedule& schedule = *unit.schedule_;
  schedule.group().c10d_group();  // refuses after shutdown()
  if (unit.is_root_) schedule.require_end();
  // Not in validation: ranks may have different numbers of batches there.
  if (schedule.is_outside() && at::GradMode::is_enabled() && unit.is_training()) {
    if (std::exchange(unit.buffers_due_, schedule.is_reducing()) &&
        unit.unit_->options().broadcast_buffers) {
      broadcast_from(0, unit.buffers(), schedule.group(), "the broadcast of buffers");
    }
  }
  schedule.enter(*unit.unit_);
}

ShardUnit::Pass::~Pass() {
  unit_.schedule_->left();
}

at::Tensor ShardUnit::Pass::watched(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const auto& type = unit_.unit_->options().compute_type;
  const bool converts = type && at::isFloatingType(tensor.scalar_type());
  return unit_.schedule_->watch_input(*unit_.unit_, converts ? tensor.to(*type) : tensor);
}

void ShardUnit::Pass::end(const std::vector<at::Tensor>& outputs) {
  unit_.schedule_->leave(*unit_.unit_, outputs);
}

}  // namespace hpcboot
