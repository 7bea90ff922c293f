#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/error.hpp"
#include "hpcboot/resolve.hpp"

namespace hpcboot {

/// Severity of a finding: only a problem prevents a job from starting or from being correct.
enum class FindingStatus { ok, note, warning, problem };

/// "ok", "note", "warning", "problem".
std::string_view name_of(FindingStatus status) noexcept;

/// The result of one check of `hpcboot doctor`. Secrets are removed from every text.
struct Finding {
  std::string name;  ///< what was checked, in one or two words: "master port"
  FindingStatus status = FindingStatus::ok;
  std::string message;
  std::string remedy;  ///< what to do; empty if no action is needed
};

/// A folder as this host sees it.
struct FolderFacts {
  std::string path;
  std::string not_made_yet;  ///< the folder that a run would make, if `path` is the one above it
  std::string error;         ///< why nothing is known of `path`: "Permission denied"
  std::string file_system;   ///< "nfs", "tmpfs", …; "0x…" if unknown
  bool local = false;        ///< other hosts cannot see it
  bool writable = false;
  std::uint64_t free_bytes = 0;
  std::optional<double> clock_ahead_seconds;  ///< the file system's clock minus this host's clock
};

/// What doctor determines about this machine in addition to Facts. A member that is unknown, as for
/// an environment captured elsewhere, produces no finding.
struct SystemFacts {
  std::optional<std::string> kvs;     ///< the result of offered_kvs()
  std::string kvs_library;            ///< the result of load_kvs_library()
  std::optional<Error> kvs_error;     ///< why the library cannot be used
  std::optional<bool> is_root;        ///< whether the effective user is root
  std::optional<std::string> mpirun;  ///< mpirun in PATH, symbolic links resolved; empty: none
  /// The executable of the nearest ancestor process that is an MPI launcher; empty: none is known.
  std::string mpi_launcher;
  std::string torchrun;  ///< PyTorch version of torchrun's agent; empty: unknown
  /// The addresses that this host's name resolves to; empty: it does not resolve.
  std::optional<std::vector<std::string>> own_addresses;
  std::optional<bool> master_resolves;  ///< does the master's name resolve?
  /// Those of the two names that no name server has answered for; their members are unknown, as
  /// they are with a thread_error.
  std::vector<std::string> unanswered_names;
  std::optional<bool> master_port_taken;  ///< checked only if rank 0 would serve on this host
  std::optional<int> first_ephemeral_port, last_ephemeral_port;  ///< ip_local_port_range
  std::optional<int> usable_cores;  ///< cores that this process may run on
  std::optional<int> all_cores;     ///< cores of this host
  std::optional<int> quota_cores;   ///< CPUs' time that control groups allow; empty: no limit
  std::optional<FolderFacts> work_folder, runs_folder;
  std::optional<bool> clock_synchronised;           ///< as reported by the kernel (NTP or PTP)
  std::optional<std::string> nvidia_driver;         ///< version; empty: no driver is loaded
  std::optional<bool> has_infiniband;               ///< does /dev/infiniband exist?
  std::optional<Error> thread_error;                ///< why no thread can be started
  std::optional<std::uint64_t> open_files_limit;    ///< soft limit; UINT64_MAX: unlimited
  std::optional<std::uint64_t> locked_bytes_limit;  ///< soft limit; UINT64_MAX: unlimited
  std::optional<std::string> libtorch;  ///< version in this build, set by the program; empty: none
};

/// The input of all checks.
struct Situation {
  Env env;
  Facts facts;
  std::optional<Resolution> resolution;  ///< empty if the environment does not resolve
  std::optional<Error> error;            ///< the reason, in that case
  SystemFacts system;
};

/// Resolves the environment; `system` stays empty.
Situation situation_of(const Env& env, const Facts& facts, const ResolveOptions& options = {});

/// Examines this machine: files in /proc and /etc, also those of ancestor processes; name
/// resolution, with a time limit; one bind() to the master's port, if rank 0 would serve here; one
/// temporary file in runs_folder, or if that does not exist, in the nearest folder above it. Loads
/// the library of the exchange that the launcher offers. Runs no program, opens no exchange, and
/// connects only to the name service.
SystemFacts look_up_system(const Situation& situation, const std::string& runs_folder);

/// Runs all checks, in a fixed order. A pure function.
std::vector<Finding> diagnose(const Situation& situation);

}  // namespace hpcboot
