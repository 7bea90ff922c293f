#include "hpcboot/torch/sharded_optimizer.hpp"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "refusal.hpp"
#include "sharded_optimizer_impl.hpp"

namespace hpcboot {
namespace {

namespace optim = torch::optim;
using Groups = ShardedOptimizer::Groups;

std::vector<at::Tensor> trained_parameters(const ShardUnit& model) {
  std::vector<at::Tensor> all;
  for (const auto& unit : model.schedule()->units()) {
    const auto& own = unit->trained().tensors;
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

std::vector<at::Tensor> all_parameters(const Groups& groups) {
  std::vector<at::Tensor> all;
  std::unordered_set<const c10::TensorImpl*> seen;
  for (const optim::OptimizerParamGroup& group : groups) {
    for (const at::Tensor& parameter : group.params()) {
      if (!parameter.defined() || parameter.layout() != at::kStrided) {
        refuse(parameter.defined() ? "a sparse parameter" : "a parameter that is undefined",
               "dense parameters", "leave it to an optimizer of its own");
      }
      if (!seen.insert(parameter.unsafeGetTensorImpl()).second) {
        refuse("a parameter that occurs twice", "each parameter once",
               "use unique_parameters(model), or remove it from one group");
      }
      all.push_back(parameter);
    }
  }
  return all;
}

}  // namespace

void ShardedOptimizer::Impl::make_local(const Groups& groups) {
  Groups shares;
  std::vector<std::size_t> group_of;  // of a parameter
  for (const optim::OptimizerParamGroup& one : groups) {
    group_of.insert(group_of.end(), one.params().size(), shares.size());
    shares.push_back(one);
    shares.back().params().clear();
  }
  for (const OwnPiece& own : pieces) {
    shares[group_of[own.piece.parameter]].params().push_back(own.leaf);
  }
  local = make(shares);
}

void ShardedOptimizer::Impl::require_dense_gradients() const {
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.grad().defined() || parameter.grad().layout() == at::kStrided) continue;
    refuse("a sparse gradient", "dense gradients",
           "construct the embedding without sparse(true), or leave it to an optimizer of its own");
  }
}

at::Tensor ShardedOptimizer::Impl::gradient_of(const ShardPiece& piece) const {
  const at::Tensor& parameter = parameters[piece.parameter];
  at::Tensor gradient = parameter.grad();
  if (!gradient.defined()) return gradient;
  if (gradient.strides() != parameter.strides()) {
    gradient = at::empty_like(parameter).copy_(gradient);
  }
  return in_memory_order(gradient).narrow(0, piece.in_parameter, piece.count);
}

void ShardedOptimizer::Impl::exchange_parameters() {
  std::vector<Pending<at::Tensor>> pending;
  for (const FlatParameters& flat : flats) {
    for (auto& one : start_gather(group, flat)) pending.push_back(std::move(one));
  }
  for (const auto& one : pending) one.wait();
  mark_parameters_as_changed();
}

void ShardedOptimizer::Impl::mark_parameters_as_changed() {
  for (const at::Tensor& parameter : parameters) parameter.unsafeGetTensorImpl()->bump_version();
}

ShardedOptimizer::ShardedOptimizer(std::vector<at::Tensor> parameters, const ProcessGroup& group,
                                   const Make& make)
    : ShardedOptimizer(Groups{optim::OptimizerParamGroup(std::move(parameters))}, group, make) {}

ShardedOptimizer::ShardedOptimizer(Groups groups, const ProcessGroup& group, const Make& make)
    : Optimizer(Groups{}, nullptr),
      impl_(std::make_unique<Impl>(group, all_parameters(groups), make)) {
  Impl& me = *impl_;
  if (groups.empty() || me.parameters.empty()) {
    refuse("an optimizer of no parameters", "the parameters of a model",
           "pass model->parameters()");
  }
  me.local_options = me.parameters.front().options();
  example_state(groups, me.local_options, make);  // it throws
  me.flats = flatten_parameters(me.parameters, group.world_size());
  for (std::size_t flat = 0; flat < me.flats.size(); ++flat) {
    me.state_options.push_back(me.flats[flat].elements.options());
    const at::Tensor shard = me.flats[flat].shard_of(group.rank());
    for (const ShardPiece& piece : pieces_of(me.flats[flat], group.rank())) {
      at::Tensor leaf = shard.narrow(0, piece.in_shard, piece.count).detach();
      me.pieces.push_back({leaf, flat, piece});
    }
  }
  me.make_local(groups);
  defaults_ = me.local->defaults().clone();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i].set_options(me.local->param_groups()[i].options().clone());
    add_param_group(groups[i]);
  }
}

ShardedOptimizer::ShardedOptimizer(const ShardUnit& model, const Make& make)
    : ShardedOptimizer(Groups{optim::OptimizerParamGroup(trained_parameters(model))}, model, make) {
}

ShardedOptimizer::ShardedOptimizer(const Groups& groups, const ShardUnit& model, const Make& make)
    : Optimizer(Groups{}, nullptr),
      impl_(std::make_unique<Impl>(model.schedule()->group(), all_parameters(groups), make)) {
  Impl& me = *impl_;
  me.fully_sharded = model.schedule();
  std::unordered_map<const c10::TensorImpl*, std::size_t> index;
  for (std::size_t i = 0; i < me.parameters.size(); ++i) {
    index.emplace(me.parameters[i].unsafeGetTensorImpl(), i);
  }
  for (const auto& unit : me.fully_sharded->units()) {
    for (const ShardedFlat& flat : unit->flats()) {
      std::vector<std::optional<std::size_t>> chosen;  // by its number in the unit
      for (const at::Tensor& parameter : unit->parameters_of(flat).tensors) {
        const auto found = index.find(parameter.unsafeGetTensorImpl());
        chosen.push_back(found == index.end() ? std::nullopt : std::optional(found->second));
      }
      FlatParameters own = flat.layout;
      own.places.clear();
      for (FlatPlace place : flat.layout.places) {
        if (!chosen[place.parameter]) continue;
        place.parameter = *chosen[place.parameter];
        own.places.push_back(place);
      }
      if (own.places.empty()) continue;
      for (std::size_t i = 0; i < flat.pieces.size(); ++i) {
        ShardPiece piece = flat.pieces[i];
        if (!chosen[piece.parameter]) continue;
        piece.parameter = *chosen[piece.parameter];
        me.pieces.push_back({flat.leaves[i], me.flats.size(), piece});
      }
      me.local_options = flat.own.options();
      me.state_options.push_back(me.local_options.device(flat.device()));
      me.flats.push_back(std::move(own));
    }
  }
  std::size_t placed = 0;
  for (const FlatParameters& flat : me.flats) placed += flat.places.size();
  if (placed != me.parameters.size() || placed == 0) {
    refuse("an optimizer of parameters that fully_shard() has not divided, or of none",
           "trained parameters of the module", "pass those of the module that it returned");
  }
  example_state(groups, me.local_options, make);  // it throws
  me.make_local(groups);
  defaults_ = me.local->defaults().clone();
  for (const optim::OptimizerParamGroup& one : me.local->param_groups()) add_param_group(one);
}

ShardedOptimizer::~ShardedOptimizer() = default;

at::Tensor ShardedOptimizer::step(LossClosure closure) {
  at::Tensor loss;
  if (closure) {
    const at::AutoGradMode with_gradients(true);
    loss = closure();
  }
  const at::NoGradGuard no_grad;
  const std::size_t expected =
      impl_->fully_sharded ? impl_->pieces.size() : impl_->parameters.size();
  std::size_t count = 0;
  for (const optim::OptimizerParamGroup& one : param_groups()) count += one.params().size();
  if (param_groups().size() != impl_->local->param_groups().size() || count != expected) {
    refuse("parameters that were added to a sharded optimizer", "those of its construction",
           "construct another ShardedOptimizer for all parameters");
  }
  for (std::size_t i = 0; i < param_groups().size(); ++i) {
    impl_->local->param_groups()[i].set_options(param_groups()[i].options().clone());
  }
  if (impl_->fully_sharded) {
    impl_->local->step();
    impl_->mark_parameters_as_changed();
    return loss;
  }
  impl_->require_dense_gradients();
  for (OwnPiece& own : impl_->pieces) own.leaf.mutable_grad() = impl_->gradient_of(own.piece);
  impl_->local->step();
  for (OwnPiece& own : impl_->pieces) own.leaf.mutable_grad().reset();
  impl_->exchange_parameters();
  return loss;
}

const optim::Optimizer& ShardedOptimizer::local() const {
  return *impl_->local;
}

void ShardedOptimizer::save(torch::serialize::OutputArchive&) const {
  refuse("save() of a sharded optimizer", "a checkpoint of the state that gather_state() collects",
         "call gather_state() on every rank, and save state() on one");
}

void ShardedOptimizer::load(torch::serialize::InputArchive&) {
  refuse("load() of a sharded optimizer", "state() of a checkpoint, and scatter_state()",
         "put the state of all parameters into state(), and call scatter_state()");
}

}  // namespace hpcboot
