#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// In which type gradients travel between the ranks. Two bytes halve the traffic and round the
/// gradients, bf16 to 8 bits and fp16 to 11 (and to nothing below 6e-8). With Gloo, which cannot
/// add bf16, every rank gets every rank's gradients: that is less than fp32's traffic on 2 and 3
/// ranks only.
enum class GradientCompression { none, bf16, fp16 };

struct DistributedDataParallelOptions {
  double bucket_cap_mb = 25;      ///< gradients are exchanged in groups of about this size, in MiB
  double first_bucket_mb = 1;     ///< the group exchanged first is smaller, to start early
  bool broadcast_buffers = true;  ///< rank 0's buffers for everybody at each forward in training
  /// Parameters that a step does not use count as having no gradient on this rank. Costs a walk
  /// through the graph at each forward; without it, an unused parameter is an error.
  bool find_unused_parameters = false;
  /// Let .grad be views of the exchanged groups: saves a copy of all gradients, but .grad must then
  /// not be detached in place.
  bool gradient_as_bucket_view = false;
  GradientCompression compression = GradientCompression::none;
  /// Keep the groups as they are made first, by the order of the parameters. Otherwise they are
  /// made anew after the first step, by the order in which gradients came, which on 3 and more
  /// ranks changes the last bits of their sums: a run that is interrupted and goes on then differs
  /// from one that is not. Costs a walk through the graph at each forward.
  bool fixed_buckets = false;
};

/// The part of DistributedDataParallel that does not depend on the type of the module: c10d's
/// Reducer, the synchronisation of buffers, and the checks.
class GradientReducer {
 public:
  /// Collective. Checks that all ranks have the same parameters and buffers, and gives everybody
  /// rank 0's.
  /// @throws Error{invalid_model_use} on every rank, where the ranks' models differ or nothing in
  ///         them is trained; Error{peer_lost, deadline_exceeded}
  GradientReducer(torch::nn::Module& module, ProcessGroup& group,
                  const DistributedDataParallelOptions& options);
  GradientReducer(GradientReducer&&) noexcept;
  GradientReducer& operator=(GradientReducer&&) noexcept;
  ~GradientReducer();

  /// Whether the backward passes of the forwards that follow exchange the gradients, as they do at
  /// first. Without, this rank's gradients add up until a pass that exchanges them.
  void set_exchanging(bool exchanging);
  bool exchanging() const;

  /// When the last gradient of the newest backward pass was there. What passes from then to the end
  /// of backward() is spent waiting for the other ranks and the network.
  std::chrono::steady_clock::time_point last_gradient() const;

  /// What this rank gives to one exchange of the gradients.
  std::int64_t bytes_per_exchange() const;

  /// To be called before each forward of the module, on every rank.
  /// @throws Error{invalid_model_use} where the backward before left parameters without gradient
  void before_forward();

  /// To be called after each forward of the module, with every tensor that it returned. After this
  /// the next backward exchanges the gradients, if exchanging(); where it then leaves a parameter
  /// without one, it throws Error{invalid_model_use} naming it.
  void after_forward(const std::vector<at::Tensor>& outputs);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// While it lives, gradients are not exchanged.
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
