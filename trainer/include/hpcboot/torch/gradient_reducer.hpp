#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

#include "hpcboot/torch/communication_hook.hpp"
#include "hpcboot/torch/exchange_statistics.hpp"
#include "hpcboot/torch/join.hpp"
#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

struct DistributedDataParallelOptions {
  double bucket_cap_mb = 25;      ///< gradients are exchanged in buckets of about this size, in MiB
  double first_bucket_mb = 1;     ///< the bucket exchanged first is smaller, to start early
  bool broadcast_buffers = true;  ///< broadcast rank 0's buffers at each forward in training
  /// Treat parameters that a step does not use as having no gradient on this rank. Costs a graph
  /// traversal at each forward; without it, an unused parameter is an error.
  bool find_unused_parameters = false;
  /// Every step uses the same parameters, equally often, as the first one does. Parameters that no
  /// step uses are then allowed without a graph traversal, as are layers that checkpointed segments
  /// compute several times. A step that differs is an error.
  bool static_graph = false;
  /// Full names of parameters and buffers that each rank keeps to itself: they are neither
  /// compared, nor broadcast, nor are their gradients averaged.
  std::vector<std::string> ignored_parameters;
  /// Make .grad a view of the exchanged bucket: saves a copy of all gradients.
  bool gradient_as_bucket_view = false;
  /// How the gradients are exchanged; null for all_reduce_hook(). One object for each
  /// DistributedDataParallel.
  std::shared_ptr<CommunicationHook> communication_hook;
  /// Keep the buckets as first assigned, in the order of the parameters. Otherwise they are rebuilt
  /// after the first step, in the order in which gradients became ready. On 3 or more ranks that
  /// changes the last bits of the sums, so an interrupted and resumed run would differ from an
  /// uninterrupted one. Costs a graph traversal at each forward.
  bool fixed_buckets = false;
};

/// The part of DistributedDataParallel that does not depend on the module type: c10d's Reducer, the
/// synchronisation of buffers, and the checks.
class GradientReducer {
 public:
  /// Collective. Checks that all ranks have the same parameters, buffers and options, and
  /// broadcasts the parameters and buffers of rank 0.
  /// @throws Error{invalid_model_use} on every rank, if the ranks' models or options differ, if the
  ///         model has no trained parameter, or lacks an ignored one; Error{peer_lost,
  ///         deadline_exceeded}
  GradientReducer(torch::nn::Module& module, ProcessGroup& group,
                  const DistributedDataParallelOptions& options);
  GradientReducer(GradientReducer&&) noexcept;
  GradientReducer& operator=(GradientReducer&&) noexcept;
  ~GradientReducer();

  /// Sets whether the backward passes of the following forwards exchange the gradients; by default
  /// they do. If not, this rank's gradients accumulate until a pass exchanges them.
  void set_exchanging(bool exchanging);
  bool exchanging() const;

  /// What the exchange of the gradients costs.
  const ExchangeStatistics& statistics() const;

  /// Its part in a Join. Throws Error{invalid_model_use} there if gradients are sparse, and with
  /// static_graph.
  Joinable& joinable();

  /// Must be called before each forward of the module, on every rank.
  /// @throws Error{invalid_model_use} if the previous backward left parameters without gradient, or
  ///         threw; or if a parameter requires a gradient that did not when this was constructed
  void before_forward();

  /// Must be called after each forward of the module, with every tensor that it returned; undefined
  /// ones do no harm. The next backward then exchanges the gradients, if exchanging(). It throws
  /// Error{invalid_model_use}, naming the parameters, if it leaves some without a gradient that
  /// need one; with static_graph, if it reaches other parameters than the first backward.
  void after_forward(const std::vector<at::Tensor>& outputs);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// During its lifetime, gradients are not exchanged.
class NoSync {
 public:
  explicit NoSync(GradientReducer& reducer) : reducer_(reducer), before_(reducer.exchanging()) {
    reducer_.set_exchanging(false);
  }
  ~NoSync() { reducer_.set_exchanging(before_); }
  NoSync(const NoSync&) = delete;
  NoSync& operator=(const NoSync&) = delete;

 private:
  GradientReducer& reducer_;
  bool before_;
};

}  // namespace hpcboot
