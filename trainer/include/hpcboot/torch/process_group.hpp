#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "hpcboot/resolve.hpp"

namespace c10d {
class ProcessGroup;
}

namespace hpcboot {

/// What the ranks tell each other by, until Gloo and NCCL have connected them.
enum class StoreKind {
  own,  ///< hpcboot's, where every rank proves that it is of this launch
  tcp,  ///< LibTorch's TCPStore, found through ours: for comparison, since it believes everybody
};

struct ProcessGroupOptions {
  /// What moves tensors of CUDA devices between the ranks: gloo, through the host's memory, or
  /// nccl, from GPU to GPU. Those of the CPU go over Gloo either way.
  std::string backend = "gloo";
  StoreKind store = StoreKind::own;
  /// How long to wait until every rank is there.
  std::chrono::milliseconds start_up_deadline = std::chrono::minutes(5);
  /// How long one collective may take before its peers count as lost.
  std::chrono::milliseconds collective_timeout = std::chrono::minutes(30);
};

/// Whether this build can have the backend nccl: LibTorch is built for CUDA, and 2.7 or newer.
bool has_nccl();

/// The ranks of this launch, connected. Owns c10d's process group, the store through which the
/// ranks found each other and the exchange with the launcher. Movable, not copyable. To be used by
/// one thread at a time.
class ProcessGroup {
 public:
  ProcessGroup(ProcessGroup&&) noexcept;
  ProcessGroup& operator=(ProcessGroup&&) noexcept;
  /// Disconnects without waiting for the others. Never throws, and waits a few seconds at most for
  /// collectives that are still under way.
  ~ProcessGroup();

  int rank() const;
  int world_size() const;

  /// How the ranks found each other, for logs: "store at 10.0.0.1:40123, published by pmix:
  /// OpenPMIx 4.2.2", "store of this host at @hpcboot-…", "store at n1:20717, proved by MUNGE".
  const std::string& description() const;

  /// On rank 0, what its user should know of the way in which the ranks met: that they have no
  /// secret in common. Empty if all is well, and on other ranks.
  const std::string& warning() const;

  /// For collectives of c10d itself (torch/csrc/distributed/c10d/ProcessGroup.hpp). Valid until
  /// shutdown().
  const c10::intrusive_ptr<c10d::ProcessGroup>& c10d_group() const;

  /// Waits until every rank is here.
  /// @throws Error{deadline_exceeded, peer_lost}
  void barrier(std::chrono::milliseconds deadline = std::chrono::minutes(5));

  /// The orderly end: waits until every rank is here, then disconnects, so that no rank sees
  /// another one leave early. Does nothing the second time.
  /// @throws Error{deadline_exceeded, peer_lost}
  void shutdown();

  /// For the message after a collective that timed out: the ranks that do not call this as well
  /// within `wait`, on whichever host. Rank 0 alone where it serves the store that the ranks met in
  /// and does not answer. Never throws.
  std::vector<int> absent_ranks(std::chrono::milliseconds wait) noexcept;

  /// For the message after a collective that lost a peer: a connection that broke does not say who
  /// is gone, and why is seen on that rank's host only. Calls `look` again and again until it
  /// returns a text, which the other ranks are told, or until one that another rank has told comes.
  /// Empty after `wait`. Never throws.
  std::string first_account(const std::function<std::string()>& look,
                            std::chrono::milliseconds wait) noexcept;

 private:
  struct Impl;
  explicit ProcessGroup(std::unique_ptr<Impl> impl);
  friend ProcessGroup make_process_group(const Resolution&, const Env&, const ProcessGroupOptions&);

  std::unique_ptr<Impl> impl_;
};

/// Connects the ranks of this launch; every rank calls it. Rank 0 serves the store that they meet
/// in, where every connection proves that it is of the launch. It is found by the first of these
/// that fits:
///  - of a lone rank: in this process;
///  - with an exchange of the launcher (PMIx, PMI) in `env`, and no explicit endpoint: at a port
///    that rank 0's kernel chooses; the exchange carries it, and a secret;
///  - of ranks of one host, unless an endpoint is named that other hosts reach: a Unix socket, for
///    processes of this user alone;
///  - at the explicit endpoint; else, and under torchrun, whose agent has that port, at one of
///  eight
///    ports derived from the launch, on rank 0's host. The secret is that of
///    HPCBOOT_RENDEZVOUS_SECRET_FILE, one sealed by MUNGE, or the key file of this user; without
///    any, everybody is believed, and warning() says so.
/// Traffic goes over resolution.interface, or loopback in a job of one host.
/// With nccl the CUDA device resolution.device, or 0, becomes this thread's current one, and a rank
/// that is lost later ends the others by c10d's watchdog after collective_timeout, with SIGABRT.
/// SIGPIPE, where nobody handles it, is ignored from here on: a peer that is lost is an error of
/// the collective, not the end of this process.
/// @throws Error{deadline_exceeded} on every rank, naming the ranks that did not come in time;
///         Error{needs_exchange} where nothing tells the ranks where to meet;
///         Error{unreadable_file, malformed_file} for a secret that others can read;
///         Error{backend_unavailable, no_usable_interface, exchange_failed}
ProcessGroup make_process_group(const Resolution& resolution, const Env& env,
                                const ProcessGroupOptions& options = {});

}  // namespace hpcboot
