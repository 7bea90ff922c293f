#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// Data type for the gradient all-reduce. The two-byte types halve the traffic and round the
/// gradients: bf16 to 8 bits, fp16 to 11 bits (and to 0 below 6e-8). Gloo cannot add bf16, so there
/// every rank receives the gradients of every rank: that is less traffic than fp32 on 2 and 3 ranks
/// only.
enum class GradientCompression { none, bf16, fp16 };

struct DistributedDataParallelOptions {
  double bucket_cap_mb = 25;      ///< gradients are exchanged in buckets of about this size, in MiB
  double first_bucket_mb = 1;     ///< the bucket exchanged first is smaller, to start early
  bool broadcast_buffers = true;  ///< broadcast rank 0's buffers at each forward in training
  /// Treat parameters that a step does not use as having no gradient on this rank. Costs a graph
  /// traversal at each forward; without it, an unused parameter is an error.
  bool find_unused_parameters = false;
  /// Make .grad a view of the exchanged bucket: saves a copy of all gradients.
  bool gradient_as_bucket_view = false;
  GradientCompression compression = GradientCompression::none;
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
  /// Collective. Checks that all ranks have the same parameters and buffers, and broadcasts those
  /// of rank 0.
  /// @throws Error{invalid_model_use} on every rank, if the ranks' models differ or have no trained
  ///         parameter; Error{peer_lost, deadline_exceeded}
  GradientReducer(torch::nn::Module& module, ProcessGroup& group,
                  const DistributedDataParallelOptions& options);
  GradientReducer(GradientReducer&&) noexcept;
  GradientReducer& operator=(GradientReducer&&) noexcept;
  ~GradientReducer();

  /// Sets whether the backward passes of the following forwards exchange the gradients; by default
  /// they do. If not, this rank's gradients accumulate until a pass exchanges them.
  void set_exchanging(bool exchanging);
  bool exchanging() const;

  /// When the last gradient of the most recent backward pass was ready. The time from then to the
  /// end of backward() is spent waiting for the other ranks and the network.
  std::chrono::steady_clock::time_point last_gradient() const;

  /// How many bytes this rank contributes to one exchange of the gradients.
  std::int64_t bytes_per_exchange() const;

  /// Must be called before each forward of the module, on every rank.
  /// @throws Error{invalid_model_use} if the previous backward left parameters without gradient
  void before_forward();

  /// Must be called after each forward of the module, with every tensor that it returned; undefined
  /// ones do no harm. The next
  /// backward then exchanges the gradients, if exchanging(); if it leaves a parameter without a
  /// gradient, it throws Error{invalid_model_use} naming the parameter.
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
