#include "hpcboot/torch/sharded_optimizer.hpp"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "optimizer_key.hpp"
#include "optimizer_state.hpp"
#include "refusal.hpp"
#include "shards.hpp"
#include "texts.hpp"
#include "unit_schedule.hpp"

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

/// What the optimizer keeps of a parameter: found out by a step of each group on one element. Null
/// if it keeps nothing with these options.
std::unique_ptr<optim::OptimizerParamState> example_state(const Groups& groups,
                                                          const at::TensorOptions& like,
                                                          const ShardedOptimizer::Make& make) {
  Groups one_each;
  for (const optim::OptimizerParamGroup& group : groups) {
    one_each.push_back(group);
    one_each.back().params() = {at::zeros({1}, like)};
    one_each.back().params().front().mutable_grad() = at::zeros({1}, like);
  }
  try {
    auto optimizer = make(one_each);
    optimizer->step();
    for (const auto& [key, state] : optimizer->state()) {
      if (fields_of(*state)) return state->clone();
      refuse("an optimizer whose state is unknown", "Adam, AdamW, SGD, Adagrad or RMSprop",
             "use it without ShardedOptimizer");
    }
    return nullptr;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& cause) {
    refuse("an optimizer that cannot be sharded (" + first_line(cause.what()) + ")",
           "one that treats each element alone, such as Adam or SGD",
           "use it without ShardedOptimizer");
  }
}

}  // namespace

/// A part of a parameter that this rank updates.
struct OwnPiece {
  at::Tensor leaf;  ///< shares the parameter's memory
  std::size_t flat;
  ShardPiece piece;
};

struct ShardedOptimizer::Impl {
  Impl(const ProcessGroup& ranks, std::vector<at::Tensor> all, Make maker)
      : group(ranks), parameters(std::move(all)), make(std::move(maker)) {}

  /// Throws on every rank, also on those that hold no piece of the parameter.
  void require_dense_gradients() const;
  /// The elements of a gradient that belong to a piece.
  at::Tensor gradient_of(const ShardPiece& piece) const;
  /// For each parameter, the steps of its state, or 1, plus 1 if it has one; and whether each of
  /// `fields` is in use. The same on all ranks. @return {parameters, 1 + fields}, on the CPU
  at::Tensor gather_presence(std::int64_t fields);
  /// A field of all states that are in a flat tensor; undefined on all ranks but `root`. On the
  /// CPU.
  at::Tensor gather_field(std::size_t flat, std::size_t field, int root);
  void exchange_parameters();
  /// Autograd then refuses a graph that has kept the old values, as after any optimizer's step.
  void mark_parameters_as_changed();

  /// Makes the optimizer of the pieces.
  /// @param groups of the caller
  void make_local(const Groups& groups);

  ProcessGroup group;
  std::vector<at::Tensor> parameters;
  std::vector<FlatParameters> flats;
  std::vector<at::TensorOptions> state_options;  // of the shards of each
  std::vector<OwnPiece> pieces;
  std::shared_ptr<UnitSchedule> fully_sharded;  // null if only the state is divided
  Make make;
  std::unique_ptr<optim::Optimizer> local;
};

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
  example_state(groups, me.parameters.front().options(), make);  // it throws
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
      for (const at::Tensor& parameter : unit->parameters_of(flat)) {
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
      me.state_options.push_back(flat.own.options());
      me.flats.push_back(std::move(own));
    }
  }
  std::size_t placed = 0;
  for (const FlatParameters& flat : me.flats) placed += flat.places.size();
  if (placed != me.parameters.size() || placed == 0) {
    refuse("an optimizer of parameters that fully_shard() has not divided, or of none",
           "trained parameters of the module", "pass those of the module that it returned");
  }
  example_state(groups, me.state_options.front(), make);  // it throws
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

std::int64_t ShardedOptimizer::state_bytes() const {
  std::int64_t bytes = 0;
  for (auto& [key, state] : impl_->local->state()) {
    const auto fields = fields_of(*state);
    for (const at::Tensor* tensor : fields->tensors) {
      if (tensor->defined()) bytes += static_cast<std::int64_t>(tensor->nbytes());
    }
  }
  return bytes;
}

at::Tensor ShardedOptimizer::Impl::gather_presence(std::int64_t fields) {
  at::Tensor presence =
      at::zeros({static_cast<std::int64_t>(parameters.size()), 1 + fields}, at::kLong);
  auto& states = local->state();
  for (const OwnPiece& own : pieces) {
    const auto state = states.find(key_of(states, own.leaf));
    if (state == states.end()) continue;
    at::Tensor row = presence[static_cast<std::int64_t>(own.piece.parameter)];
    const auto found = fields_of(*state->second);
    row[0] = found->steps != nullptr ? *found->steps + 1 : 2;
    for (std::int64_t i = 0; i < fields; ++i) {
      if (found->tensors[static_cast<std::size_t>(i)]->defined()) row[1 + i] = 1;
    }
  }
  const at::Device device = state_options.front().device();
  return all_reduce(group, presence.to(device), ReduceOp::max).wait().cpu();
}

at::Tensor ShardedOptimizer::Impl::gather_field(std::size_t flat, std::size_t field, int root) {
  at::Tensor mine = at::zeros({flats[flat].shard}, state_options[flat]);
  auto& states = local->state();
  for (const OwnPiece& own : pieces) {
    if (own.flat != flat) continue;
    const auto state = states.find(key_of(states, own.leaf));
    if (state == states.end()) continue;
    const at::Tensor& tensor = *fields_of(*state->second)->tensors[field];
    if (tensor.defined()) mine.narrow(0, own.piece.in_shard, own.piece.count).copy_(tensor);
  }
  return collect_shards(group, mine, root);
}

void ShardedOptimizer::gather_state(int root) {
  const at::NoGradGuard no_grad;
  Impl& me = *impl_;
  state().clear();
  const auto example = example_state(param_groups(), me.state_options.front(), me.make);
  if (!example) return;
  const auto fields = static_cast<std::int64_t>(fields_of(*example)->tensors.size());
  const at::Tensor presence = me.gather_presence(fields);
  const auto known = presence.accessor<std::int64_t, 2>();
  const bool collects = me.group.rank() == root;
  for (std::size_t i = 0; i < me.parameters.size() && collects; ++i) {
    const std::int64_t steps = known[static_cast<std::int64_t>(i)][0];
    if (steps == 0) continue;
    auto whole = example->clone();
    const auto found = fields_of(*whole);
    if (found->steps != nullptr) *found->steps = steps - 1;
    for (at::Tensor* tensor : found->tensors) *tensor = at::Tensor();
    auto& states = state();
    states[key_of(states, me.parameters[i])] = std::move(whole);
  }
  for (std::size_t flat = 0; flat < me.flats.size(); ++flat) {
    const auto& places = me.flats[flat].places;
    for (std::int64_t field = 0; field < fields; ++field) {
      const auto uses = [&](const FlatPlace& place) {
        return known[static_cast<std::int64_t>(place.parameter)][1 + field] != 0;
      };
      if (std::none_of(places.begin(), places.end(), uses)) continue;
      const at::Tensor all = me.gather_field(flat, static_cast<std::size_t>(field), root);
      if (!collects) continue;
      for (const FlatPlace& place : places) {
        if (!uses(place)) continue;
        const at::Tensor& parameter = me.parameters[place.parameter];
        auto& states = state();
        const auto found = fields_of(*states[key_of(states, parameter)]);
        *found->tensors[static_cast<std::size_t>(field)] = place.in(all);
      }
    }
  }
}

void ShardedOptimizer::release_state() {
  state().clear();
}

void ShardedOptimizer::scatter_state() {
  const at::NoGradGuard no_grad;
  Impl& me = *impl_;
  auto& local = me.local->state();
  auto& whole = state();
  std::vector<const FlatPlace*> places(me.parameters.size());
  for (const FlatParameters& flat : me.flats) {
    for (const FlatPlace& place : flat.places) places[place.parameter] = &place;
  }
  for (const OwnPiece& own : me.pieces) {
    const at::Tensor& parameter = me.parameters[own.piece.parameter];
    const auto found = whole.find(key_of(whole, parameter));
    if (found == whole.end()) {
      local.erase(key_of(local, own.leaf));
      continue;
    }
    auto part = found->second->clone();
    const auto fields = fields_of(*part);
    const FlatPlace& place = *places[own.piece.parameter];
    for (at::Tensor* tensor : fields->tensors) {
      if (!tensor->defined()) continue;
      const at::Tensor dense =
          at::empty_strided(place.sizes, place.strides, tensor->options()).copy_(*tensor);
      *tensor = in_memory_order(dense)
                    .narrow(0, own.piece.in_parameter, own.piece.count)
                    .clone()
                    .to(own.leaf.device());
    }
    local[key_of(local, own.leaf)] = std::move(part);
  }
  whole.clear();
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
