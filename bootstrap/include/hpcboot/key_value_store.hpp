#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/env.hpp"

namespace hpcboot {

/// A key-value store for the ranks of one launch, for the few bytes that they must exchange before
/// they can connect. Open it on all ranks or on none. Order of calls: put() on ranks with values to
/// publish, commit() on every rank, then get() on ranks that need a value. A deadline below zero
/// counts as zero; one of more than a hundred years counts as a hundred.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;

  /// Stores a value under a key of this rank, at most once per key.
  /// @param key 1 to 32 bytes, of which each but letters, digits, '.' and '-' counts as three
  /// @param value any bytes, at most 1 MiB, counted in the same way
  /// @throws Error{exchange_failed}
  virtual void put(const std::string& key, const std::string& value) = 0;

  /// Publishes the values put so far to every rank. All ranks must call it equally often, including
  /// those that put nothing. With PMI it waits for all ranks, since PMI publishes values with a
  /// barrier; with PMIx and shared files it returns at once, so that get() can name the rank that
  /// is missing.
  /// @throws Error{deadline_exceeded, exchange_failed}
  virtual void commit(std::chrono::milliseconds deadline) = 0;

  /// The value that `rank` published. After commit() only.
  /// @throws Error{deadline_exceeded, exchange_failed} naming the rank
  virtual std::string get(int rank, const std::string& key, std::chrono::milliseconds deadline) = 0;

  /// Waits until every rank has called it.
  /// @throws Error{deadline_exceeded, exchange_failed}
  virtual void fence(std::chrono::milliseconds deadline) = 0;

  /// The node of every rank, as counted by the launcher's server: PMI_process_mapping with PMI-1
  /// and PMI2, the ranks' host names with PMIx. Asks only the daemon of this host. Empty if the
  /// daemon does not provide it. Under Hydra, a host that is listed twice in the host file counts
  /// as two nodes.
  /// @throws Error{deadline_exceeded, exchange_failed, malformed_value}
  virtual std::vector<int> node_map(std::chrono::milliseconds deadline);

  /// Call this if this process outlives its use of the exchange. A shared folder is then free for
  /// another launch once rank 0 has called it, and empty once all ranks have; the destructor does
  /// the same. Other exchanges stay connected until the destructor.
  virtual void leave() {}

  /// Call this before this process execs a program that may use the launcher's service itself, as
  /// an MPI program does: the destructor then leaves a PMI-1 connection open for it.
  virtual void hand_over() {}

  virtual int rank() const = 0;
  virtual int world_size() const = 0;

  /// The back end and its library, for provenance: "pmix: OpenPMIx 4.2.2 (libpmix.so.2)".
  virtual std::string description() const = 0;
};

/// The exchange that open_kvs() would open; makes no connection. Empty if none is offered, else the
/// first of these:
///  - "pmix": PMIX_NAMESPACE and PMIX_RANK are set (Open MPI's mpirun, PRRTE, srun --mpi=pmix) by
///    this process's own launcher, not by an outer launcher that started Hydra;
///  - "pmi2": Slurm's srun --mpi=pmi2 set PMI_FD;
///  - "pmi1": PMI_FD is an open socket (MPICH's and Intel MPI's Hydra, Flux);
///  - "file": HPCBOOT_EXCHANGE_DIR names a folder that all ranks share. Launches that use it at the
///    same time must differ in their job, step, launcher or size, else they may be mixed. If two
///    processes of a rank are there at the same time, the second fails (exchange_failed), and so do
///    the ranks that still wait in a group with the first.
std::string_view offered_kvs(const Env& env);

inline bool kvs_is_offered(const Env& env) {
  return !offered_kvs(env).empty();
}

/// Loads the library of the exchange that offered_kvs() names, without opening the exchange.
/// @return its description: "pmix: OpenPMIx 4.2.2 (/usr/lib/libpmix.so.2)"; only the name if no
/// library is needed.
/// @throws Error{backend_unavailable} if this build or machine cannot use it
std::string load_kvs_library(const Env& env);

/// Opens the exchange that offered_kvs() names. Libraries are loaded at run time. PMI2 can be
/// opened only once in the life of a process, even across exec.
/// @param deadline for the wait during opening: for the launcher's answer or, with "file", for the
///        other ranks.
/// @return null if none is offered.
/// @throws Error{backend_unavailable} if one is offered but this build or machine cannot use it,
///         Error{exchange_failed, deadline_exceeded, missing_variable, malformed_value}; with
///         "file" also what resolve() throws.
std::unique_ptr<KeyValueStore> open_kvs(
    const Env& env, std::chrono::milliseconds deadline = std::chrono::seconds(60));

}  // namespace hpcboot
