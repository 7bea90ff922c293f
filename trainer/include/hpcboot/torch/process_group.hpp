#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "hpcboot/resolve.hpp"

namespace c10d {
class ProcessGroup;
class Store;
}  // namespace c10d

namespace hpcboot {

/// The store in which the ranks exchange addresses until Gloo and NCCL have connected them.
enum class StoreKind {
  own,  ///< hpcboot's, to which every rank proves that it belongs to this launch
  tcp,  ///< LibTorch's TCPStore, located through ours: for comparison, it authenticates no peer
};

/// A duration of more than a hundred years, such as milliseconds::max(), counts as a hundred, here
/// and wherever a group or a Pending takes one.
struct ProcessGroupOptions {
  /// What moves CUDA tensors between the ranks: gloo, through host memory, or nccl, from GPU to
  /// GPU. CPU tensors use Gloo either way.
  std::string backend = "gloo";
  StoreKind store = StoreKind::own;
  /// How long to wait until every rank has arrived.
  std::chrono::milliseconds start_up_deadline = std::chrono::minutes(5);
  /// How long one collective may take before its peers count as lost.
  std::chrono::milliseconds collective_timeout = std::chrono::minutes(30);
};

/// Whether this build supports the nccl backend: LibTorch is built for CUDA, and is 2.7 or newer.
bool has_nccl();

/// Connected ranks: all of this launch, or some of them. Owns c10d's process group, and shares the
/// store through which the ranks found each other, and the exchange with the launcher, with its
/// subgroups. A handle: copies refer to the same group, which the last one disconnects. Must be
/// used by one thread at a time.
class ProcessGroup {
 public:
  ProcessGroup(const ProcessGroup&);
  ProcessGroup& operator=(const ProcessGroup&);
  ProcessGroup(ProcessGroup&&) noexcept;
  ProcessGroup& operator=(ProcessGroup&&) noexcept;
  /// The last handle disconnects without waiting for the other ranks. Never throws, and waits at
  /// most a few seconds for collectives that are still under way.
  ~ProcessGroup();

  int rank() const;        ///< of this process in this group
  int world_size() const;  ///< the number of ranks of this group

  /// The rank in the launch of each rank of this group. For an adopted group, 0, 1, 2, …
  const std::vector<int>& global_ranks() const;

  /// How the ranks found each other, for logs: "store at 10.0.0.1:40123, published by pmix:
  /// OpenPMIx 4.2.2", "store on this host at @hpcboot-…", "store at n1:20717, authenticated by
  /// MUNGE".
  const std::string& description() const;

  /// On rank 0, a warning for the user if the ranks met without a common secret. Empty otherwise,
  /// and on all other ranks.
  const std::string& warning() const;

  /// The bytes that this rank has passed to collectives of hpcboot/torch/collectives.hpp, as they
  /// are sent, in all groups that were made from one.
  std::int64_t contributed_bytes() const;

  /// For c10d's own collectives (torch/csrc/distributed/c10d/ProcessGroup.hpp). The collectives of
  /// hpcboot/torch/collectives.hpp report a lost rank as an Error, and take more types.
  /// @throws Error{invalid_collective} after shutdown()
  const c10::intrusive_ptr<c10d::ProcessGroup>& c10d_group() const;

  /// Divides the ranks into groups: those that pass the same color form one, in the order of their
  /// keys, and of their ranks for equal keys. Collective: every rank of this group calls it.
  ///
  ///     // One group per host.
  ///     hpcboot::ProcessGroup host = world.split(resolution.placement.node_rank);
  ///
  /// @throws Error{deadline_exceeded, peer_lost, invalid_collective}
  ProcessGroup split(int color, int key = 0);

  /// The group of these ranks of this group, in this order. Called by each of them; the others may
  /// call it too, and get none.
  /// @throws Error{invalid_collective} if a rank does not exist or occurs twice, or if an adopted
  ///         group has no store; Error{deadline_exceeded, peer_lost}
  std::optional<ProcessGroup> subgroup(const std::vector<int>& ranks);

  /// Waits until every rank has called this, at most for the deadline, and for the group's
  /// collective timeout: without a deadline, for that. That of an adopted group is unknown: without
  /// a deadline, 30 minutes.
  /// @throws Error{deadline_exceeded} naming the ranks, in the launch, that have not called it;
  ///         Error{peer_lost, invalid_collective}
  void barrier(std::optional<std::chrono::milliseconds> deadline = {});

  /// Ends the group cleanly: waits until every rank has called this, at most for the collective
  /// timeout, then disconnects, so that no rank sees another one leave early. End subgroups first.
  /// Afterwards, every use of this group, and of what was made with it, throws
  /// Error{invalid_collective}. A second call does nothing.
  /// @throws Error{deadline_exceeded, peer_lost}
  void shutdown();

  /// For the message after a collective that timed out: the ranks, on any host, that do not call
  /// this within `wait` as well. Rank 0 only, if it serves the store in which the ranks met and
  /// does not answer. Never throws.
  std::vector<int> absent_ranks(std::chrono::milliseconds wait) noexcept;

  /// For the message after a collective that lost a peer: a broken connection does not say which
  /// rank is gone, and the reason is visible on that rank's host only. Calls `look` repeatedly
  /// until it returns a text, which is published to the other ranks, or until another rank has
  /// published one. Empty after `wait`. Never throws.
  std::string first_account(const std::function<std::string()>& look,
                            std::chrono::milliseconds wait) noexcept;

 private:
  struct Impl;
  friend struct ProcessGroupAccess;
  explicit ProcessGroup(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

/// Connects the ranks of this launch; every rank calls it. Rank 0 serves the store in which they
/// meet, and every connection to it proves that it belongs to the launch. The first of these that
/// applies determines where the store is:
///  - for a single rank: in this process;
///  - with an exchange of the launcher (PMIx, PMI) in `env` and no explicit endpoint: at a port
///    that rank 0's kernel chooses; the exchange carries the port and a secret;
///  - for ranks of one host, unless an endpoint is set that other hosts can reach: a Unix socket,
///    for processes of this user only;
///  - at the explicit endpoint; without one, and under torchrun, whose agent uses that port, at one
///    of eight ports derived from the launch, on rank 0's host. The secret is that of
///    HPCBOOT_RENDEZVOUS_SECRET_FILE, one sealed by MUNGE, or the key file of this user; without
///    any of them, every peer is accepted, and warning() says so.
/// Traffic uses resolution.interface, or loopback in a job of one host.
/// With nccl, the CUDA device resolution.device, or 0, becomes this thread's current device. If a
/// rank is lost later, c10d's watchdog ends the others with SIGABRT after collective_timeout.
/// SIGPIPE, if its action is the default, is ignored from here on: a lost peer is an error of the
/// collective, not the end of this process.
/// @throws Error{deadline_exceeded} on every rank, naming the ranks that did not arrive in time;
///         Error{needs_exchange} if nothing determines where the ranks meet;
///         Error{unreadable_file, malformed_file} for a secret that others can read;
///         Error{backend_unavailable, no_usable_interface, exchange_failed}
ProcessGroup make_process_group(const Resolution& resolution, const Env& env,
                                const ProcessGroupOptions& options = {});

/// A group that another part of the program made, for DistributedDataParallel and the collectives
/// of this library. shutdown() waits for its ranks and lets go of it.
/// @throws Error{invalid_collective} if there is no group
ProcessGroup adopt_process_group(const c10::intrusive_ptr<c10d::ProcessGroup>& group);

/// The same with a store of all its ranks, which subgroups and the names of late ranks need.
/// Subgroups use Gloo, with a collective timeout of 30 minutes.
/// @param interface the network interface of subgroups; without it, that of this host's name
ProcessGroup adopt_process_group(const c10::intrusive_ptr<c10d::ProcessGroup>& group,
                                 const c10::intrusive_ptr<c10d::Store>& store,
                                 const std::optional<std::string>& interface = {});

}  // namespace hpcboot
