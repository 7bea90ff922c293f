#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compat.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "meeting.hpp"

namespace hpcboot {

// Members are destroyed in reverse order: the meeting, whose exchange may wait for the launcher, is
// destroyed last.
struct ProcessGroup::Impl {
  int rank = 0;
  int world_size = 1;
  std::vector<int> global_ranks;
  std::string description;
  std::string warning;
  std::shared_ptr<Meeting> meeting;              ///< shared with the subgroups; null if adopted
  c10::intrusive_ptr<c10d::Store> store;         ///< this group's own part of it; null without one
  c10::intrusive_ptr<c10d::ProcessGroup> group;  ///< null after shutdown()
  compat::GlooDevice device;             ///< of the subgroups; null until an adopted group has one
  std::optional<std::string> interface;  ///< of an adopted group
  std::optional<int> nccl_device;
  std::chrono::milliseconds start_up_deadline = std::chrono::minutes(5);
  std::chrono::milliseconds collective_timeout = std::chrono::minutes(30);
  std::map<std::string, int> subgroups;  ///< how many were made of each list of ranks
  std::int64_t barriers = 0;
  /// By sender and tag: the latest recv() has asked for its data.
  std::map<std::pair<int, int>, std::shared_future<void>> receipts;
  /// In all groups of the launch: see contributed_bytes().
  std::shared_ptr<std::atomic<std::int64_t>> contributed =
      std::make_shared<std::atomic<std::int64_t>>(0);

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  /// Sets rank, world_size and global_ranks for a group of all ranks.
  void contain_all(int own_rank, int ranks);

  /// @throws Error{invalid_collective} after shutdown()
  const c10::intrusive_ptr<c10d::ProcessGroup>& open_group() const;

  /// Connects the ranks through the store; sets `group`.
  /// @throws Error{deadline_exceeded, peer_lost, exchange_failed}
  void connect();

  /// Disconnects. Gloo's destructor waits for collectives under way; if a peer hangs, it would wait
  /// until the collective times out.
  void release() noexcept;
};

struct ProcessGroupAccess {
  using Impl = ProcessGroup::Impl;
  static ProcessGroup make(std::shared_ptr<Impl> impl) { return ProcessGroup(std::move(impl)); }
  static Impl& impl_of(const ProcessGroup& group) { return *group.impl_; }
};

}  // namespace hpcboot
