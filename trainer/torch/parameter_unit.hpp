#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/edge.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host_copies.hpp"
#include "hpcboot/torch/fully_shard.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "shards.hpp"

namespace hpcboot {

/// Parameters of one type and device that are gathered and freed together: the whole ones, which
/// the module computes with, in one flat tensor, and this rank's shard, which the optimizer
/// changes.
struct ShardedFlat {
  bool is_trained;
  FlatParameters layout;          ///< its elements have no memory unless the unit is whole
  std::vector<at::Tensor> whole;  ///< the parameters in these elements
  at::Tensor own;                 ///< this rank's shard, on the module's device or the host
  std::vector<ShardPiece> pieces;
  std::vector<at::Tensor> leaves;  ///< of the pieces: in `own`, with gradients
  at::Tensor gradient;             ///< as the elements; undefined if there is none
  std::vector<bool> has_gradient;  ///< of each place

  /// The module's, on which ranks exchange shards.
  at::Device device() const { return layout.elements.device(); }
};

/// The parameters of a unit of fully_shard(): divided among the ranks, and whole in between.
class ParameterUnit : public std::enable_shared_from_this<ParameterUnit> {
 public:
  struct Parameters {
    std::vector<std::string> names;
    std::vector<at::Tensor> tensors;
  };

  /// Divides the parameters, which are the same on all ranks.
  /// @param frozen those that are not trained
  ParameterUnit(const ProcessGroup& group, const FullyShardOptions& options, Parameters trained,
                const Parameters& frozen);

  /// Starts to gather the parameters. Collective.
  void start_gather();
  /// Makes the parameters whole. Collective.
  /// @throws Error{peer_lost, deadline_exceeded}; Error{invalid_model_use} if a parameter was moved
  ///         or converted
  void gather();
  /// Frees all but this rank's shard, once a gather under way has ended.
  void release();

  /// Calls `action` from now on when .grad of a trained parameter has been computed.
  void on_gradient(std::function<void(std::size_t parameter)> action);
  /// Moves .grad of a trained parameter to the unit.
  void take_gradient(std::size_t parameter);
  bool has_all_gradients() const { return arrived_ == trained_.tensors.size(); }
  bool has_some_gradients() const { return arrived_ > 0; }
  /// Of trained parameters, since the beginning of the backward pass.
  std::vector<std::string> without_gradient() const;
  /// Starts to average the gradients over the ranks, each of its part. Collective.
  void start_reduction();
  /// Adds the averages to .grad of the leaves. Nothing if none was started.
  void finish_reduction();
  /// Waits for the copies from and to host memory: the shards may change, and be read, from now on.
  void finish_copies();
  /// Counts anew.
  void end_backward();

  const FullyShardOptions& options() const { return options_; }
  const std::vector<ShardedFlat>& flats() const { return flats_; }
  const Parameters& trained() const { return trained_; }
  /// In the order of FlatPlace::parameter.
  const Parameters& parameters_of(const ShardedFlat& flat) const {
    return flat.is_trained ? trained_ : frozen_;
  }
  /// Seconds that this rank has waited for others.
  double waited() const { return waited_; }

  int open_inputs = 0;   ///< whose gradients the backward pass has yet to compute
  bool is_done = false;  ///< in this backward pass

 private:
  class Hook;
  using Node = decltype(torch::autograd::Edge::function);

  /// Where a trained parameter is.
  struct Home {
    std::size_t flat;
    std::size_t place;
  };

  void divide(const Parameters& parameters, bool is_trained);
  /// Memory for the elements of such a tensor, where the shards are.
  at::Tensor beside_shards(const at::Tensor& like) const;
  void wait_for_gather();
  void require_unmoved() const;
  /// The averaged gradients of a shard, where it is.
  at::Tensor to_shards(const at::Tensor& mean, const ShardedFlat& flat);

  ProcessGroup group_;
  FullyShardOptions options_;
  Parameters trained_;
  Parameters frozen_;
  std::vector<ShardedFlat> flats_;  // those of the trained parameters first
  std::vector<Home> homes_;         // of the trained parameters
  std::vector<Pending<at::Tensor>> gathering_;
  std::vector<Pending<at::Tensor>> reducing_;
  bool has_memory_ = false;
  bool is_whole_ = false;
  std::unique_ptr<HostCopies> copies_;  // null if the shards are on the module's device
  /// Kept alive, as each has a hook; a parameter does not own its node.
  std::vector<Node> accumulators_;
  std::function<void(std::size_t)> on_gradient_;
  std::vector<bool> has_arrived_;
  std::size_t arrived_ = 0;
  double waited_ = 0;
};

}  // namespace hpcboot
