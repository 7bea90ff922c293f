#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/resolve.hpp"
#include "hpcboot/torch/process_group.hpp"

namespace hpcboot::train {

/// The ranks of a run, or a single process, so that the loop is written once for both. In a single
/// process the collectives do nothing.
class Communicator {
 public:
  Communicator(Resolution resolution, std::optional<ProcessGroup> group);

  int rank() const { return resolution_.placement.rank; }
  int size() const { return resolution_.placement.world_size; }
  bool is_first() const { return rank() == 0; }
  const Resolution& resolution() const { return resolution_; }
  ProcessGroup* group() { return group_ ? &*group_ : nullptr; }

  /// Each throws Error{peer_lost, deadline_exceeded}.
  void sum(at::Tensor tensor);
  void broadcast(at::Tensor tensor);
  std::string broadcast(std::string_view text);
  std::vector<std::string> gather(std::string_view text);
  void finish();

  /// Waits until `done` is true on every rank, longer than the collective timeout if need be: the
  /// ranks tell each other several times a second that they still wait. Collective.
  /// @param done waits for what this rank has to do, for at most this long; whether it is done
  /// @throws Error{peer_lost, deadline_exceeded} if a rank is gone, or its `done` does not return
  void wait_until_all(const std::function<bool(std::chrono::milliseconds limit)>& done);

 private:
  Resolution resolution_;
  std::optional<ProcessGroup> group_;
};

}  // namespace hpcboot::train
