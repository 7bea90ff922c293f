#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/env.hpp"

namespace hpcboot {

/// A key-value service among the ranks of one launch, for the few bytes that they must tell each
/// other before they can connect. Open it on all ranks or on none, and in this order: those who
/// have something to tell put(), every rank calls commit(), those who want to know get().
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;

  /// Notes a value under a key of this rank; any bytes, once a key.
  /// @throws Error{exchange_failed}
  virtual void put(const std::string& key, const std::string& value) = 0;

  /// Shows the values put so far to every rank. All ranks call it, equally often, also those that
  /// put nothing. Under PMI it waits for all of them, since its values travel with a barrier; under
  /// PMIx and shared files it returns at once, so that a get() can name the rank that is missing.
  /// @throws Error{deadline_exceeded, exchange_failed}
  virtual void commit(std::chrono::milliseconds deadline) = 0;

  /// The value that `rank` published. After commit() only.
  /// @throws Error{deadline_exceeded, exchange_failed} naming the rank
  virtual std::string get(int rank, const std::string& key, std::chrono::milliseconds deadline) = 0;

  /// Waits until every rank is here.
  /// @throws Error{deadline_exceeded, exchange_failed}
  virtual void fence(std::chrono::milliseconds deadline) = 0;

  /// The node of every rank, as the launcher's server counts nodes: PMI_process_mapping under PMI-1
  /// and PMI2, the hosts that PMIx was given. Asks this host's daemon only. Empty where it does not
  /// say. Under Hydra a host that stands twice in the host file is two nodes.
  /// @throws Error{deadline_exceeded, exchange_failed, malformed_value}
  virtual std::vector<int> node_map(std::chrono::milliseconds deadline);

  /// To be called before this process execs a program that may itself use the launcher's service,
  /// as its MPI does: the destructor then leaves a PMI-1 connection open for it.
  virtual void hand_over() {}

  virtual int rank() const = 0;
  virtual int world_size() const = 0;

  /// The back end and its library, for provenance: "pmix: OpenPMIx 4.2.2 (libpmix.so.2)".
  virtual std::string description() const = 0;
};

/// The exchange that open_kvs() would open; no connection is made. Empty where none is
/// offered, else the first of these:
///  - "pmix": PMIX_NAMESPACE and PMIX_RANK are set (Open MPI's mpirun, PRRTE, srun --mpi=pmix) by
///    this process's own launcher, not by the one that started a Hydra around it;
///  - "pmi2": Slurm's srun --mpi=pmi2 set PMI_FD;
///  - "pmi1": PMI_FD is an open socket (MPICH's and Intel MPI's Hydra, Flux);
///  - "file": HPCBOOT_EXCHANGE_DIR names a folder that all ranks share.
std::string_view offered_kvs(const Env& env);

inline bool kvs_is_offered(const Env& env) {
  return !offered_kvs(env).empty();
}

/// Loads the library of the exchange that offered_kvs() names, and opens nothing.
/// @return what it is: "pmix: OpenPMIx 4.2.2 (/usr/lib/libpmix.so.2)"; the name alone where there
/// is no library.
/// @throws Error{backend_unavailable} where this build or machine cannot use it
std::string load_kvs_library(const Env& env);

/// Opens the exchange that offered_kvs() names. Libraries are loaded at run time. PMI2 can be
/// opened once in the life of a process, whatever it execs.
/// @param deadline for what has to be awaited at once: the answer of the launcher; with "file" the
///        ranks themselves.
/// @return null where none is offered.
/// @throws Error{backend_unavailable} where one is offered but this build or machine cannot use it,
///         Error{exchange_failed, deadline_exceeded, missing_variable, malformed_value}; with
///         "file" also what resolve() throws.
std::unique_ptr<KeyValueStore> open_kvs(
    const Env& env, std::chrono::milliseconds deadline = std::chrono::seconds(60));

}  // namespace hpcboot
