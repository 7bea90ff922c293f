// The state of a sharded optimizer: collected on one rank, and divided again.
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <exception>
#include <string>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "optimizer_key.hpp"
#include "optimizer_state.hpp"
#include "refusal.hpp"
#include "sharded_optimizer_impl.hpp"
#include "texts.hpp"

namespace hpcboot {

namespace optim = torch::optim;
using Groups = ShardedOptimizer::Groups;

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

at::Tensor ShardedOptimizer::Impl::own_field(std::size_t flat, std::size_t field) {
  at::Tensor mine = at::zeros({flats[flat].shard}, state_options[flat]);
  auto& states = local->state();
  for (const OwnPiece& own : pieces) {
    if (own.flat != flat) continue;
    const auto state = states.find(key_of(states, own.leaf));
    if (state == states.end()) continue;
    const at::Tensor& tensor = *fields_of(*state->second)->tensors[field];
    if (tensor.defined()) mine.narrow(0, own.piece.in_shard, own.piece.count).copy_(tensor);
  }
  return mine;
}

std::vector<ShardedOptimizer::Impl::State> ShardedOptimizer::Impl::whole_states(
    const std::vector<bool>& wanted, const Transport& transport) {
  std::vector<State> states(parameters.size());
  const State example = example_state(local->param_groups(), local_options, make);
  if (!example) return states;
  const std::size_t fields = fields_of(*example)->tensors.size();
  const at::Tensor presence = gather_presence(static_cast<std::int64_t>(fields));
  const auto known = presence.accessor<std::int64_t, 2>();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::int64_t steps = known[static_cast<std::int64_t>(i)][0];
    if (steps == 0 || !wanted[i]) continue;
    states[i] = example->clone();
    const auto found = fields_of(*states[i]);
    if (found->steps != nullptr) *found->steps = steps - 1;
    // The example is of any group: another one may have fewer fields.
    for (at::Tensor* tensor : found->tensors) tensor->reset();
  }
  for (std::size_t flat = 0; flat < flats.size(); ++flat) {
    const auto& places = flats[flat].places;
    for (std::size_t field = 0; field < fields; ++field) {
      const auto uses = [&](const FlatPlace& place) {
        return known[static_cast<std::int64_t>(place.parameter)]
                    [1 + static_cast<std::int64_t>(field)] != 0;
      };
      if (std::none_of(places.begin(), places.end(), uses)) continue;
      const std::vector<at::Tensor> whole = transport(flats[flat], own_field(flat, field));
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (!whole[i].defined() || !uses(places[i])) continue;
        *fields_of(*states[places[i].parameter])->tensors[field] = whole[i];
      }
    }
  }
  return states;
}

ShardedOptimizer::Impl& ShardedOptimizerAccess::of(ShardedOptimizer& optimizer) {
  return *optimizer.impl_;
}

void ShardedOptimizer::gather_state(int root) {
  const at::NoGradGuard no_grad;
  Impl& me = *impl_;
  state().clear();
  const std::vector<bool> wanted(me.parameters.size(), me.group.rank() == root);
  auto whole = me.whole_states(wanted, [&](const FlatParameters& flat, const at::Tensor& shard) {
    std::vector<at::Tensor> tensors(flat.places.size());
    const at::Tensor all = collect_shards(me.group, shard, root);
    if (!all.defined()) return tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i] = flat.places[i].in(all);
    return tensors;
  });
  auto& states = state();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i]) states[key_of(states, me.parameters[i])] = std::move(whole[i]);
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

}  // namespace hpcboot
