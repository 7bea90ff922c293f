#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "hpcboot/torch/sharded_optimizer.hpp"
#include "unit_schedule.hpp"

namespace hpcboot {

/// What the optimizer keeps of a parameter: found out by a step of each group on one element. Null
/// if it keeps nothing with these options.
/// @throws Error{invalid_model_use} for an optimizer whose state cannot be divided
std::unique_ptr<torch::optim::OptimizerParamState> example_state(
    const ShardedOptimizer::Groups& groups, const at::TensorOptions& like,
    const ShardedOptimizer::Make& make);

/// A part of a parameter that this rank updates.
struct OwnPiece {
  at::Tensor leaf;  ///< shares the parameter's memory
  std::size_t flat;
  ShardPiece piece;
};

/// What is inside a sharded optimizer, for other parts of this library.
struct ShardedOptimizerAccess {
  static ShardedOptimizer::Impl& of(ShardedOptimizer& optimizer);
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
  /// A field of this rank's part of a flat tensor, or 0.
  at::Tensor own_field(std::size_t flat, std::size_t field);
  using State = std::unique_ptr<torch::optim::OptimizerParamState>;
  /// Moves shards of a flat tensor: the whole tensors in its places, or undefined ones.
  using Transport =
      std::function<std::vector<at::Tensor>(const FlatParameters& flat, const at::Tensor& shard)>;
  /// Collective. The state of each parameter for which `transport` returns whole tensors here, with
  /// `wanted` telling which these are; null for the others.
  std::vector<State> whole_states(const std::vector<bool>& wanted, const Transport& transport);
  void exchange_parameters();
  /// Autograd then refuses a graph that has kept the old values, as after any optimizer's step.
  void mark_parameters_as_changed();

  /// Makes the optimizer of the pieces.
  /// @param groups of the caller
  void make_local(const Groups& groups);

  ProcessGroup group;
  std::vector<at::Tensor> parameters;
  std::vector<FlatParameters> flats;
  std::vector<at::TensorOptions> state_options;  // of the shards of each, as they are exchanged
  at::TensorOptions local_options;               // of the leaves
  std::vector<OwnPiece> pieces;
  std::shared_ptr<UnitSchedule> fully_sharded;  // null if only the state is divided
  Make make;
  std::unique_ptr<torch::optim::Optimizer> local;
};

}  // namespace hpcboot
