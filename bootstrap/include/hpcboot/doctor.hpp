#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/error.hpp"
#include "hpcboot/resolve.hpp"

namespace hpcboot {

/// How much a finding matters: only a problem keeps a job from starting or from being right.
enum class FindingStatus { ok, note, warning, problem };

/// "ok", "note", "warning", "problem".
std::string_view name_of(FindingStatus status) noexcept;

/// One thing that `hpcboot doctor` looked at. Secrets are taken out of every text.
struct Finding {
  std::string name;  ///< what was looked at, in a word or two: "master port"
  FindingStatus status = FindingStatus::ok;
  std::string message;
  std::string remedy;  ///< what to do; empty where nothing need be done
};

/// A folder as this host sees it.
struct FolderFacts {
  std::string path;
  std::string file_system;  ///< "nfs", "tmpfs", …; "0x…" for one that is not known
  bool local = false;       ///< other hosts cannot see it
  bool writable = false;
  std::uint64_t free_bytes = 0;
  std::optional<double> clock_ahead_seconds;  ///< file system's clock minus this host's
};

/// What doctor looks up on this machine beside Facts. What is not known, as with a foreign
/// environment, gives no finding.
struct SystemFacts {
  std::optional<std::string> kvs;     ///< what offered_kvs() answers
  std::string kvs_library;            ///< as load_kvs_library() tells it
  std::optional<Error> kvs_error;     ///< and why it cannot be used
  std::optional<bool> is_root;        ///< does this process run with the rights of root?
  std::optional<std::string> mpirun;  ///< PATH's mpirun, links followed; empty: there is none
  /// The file of the nearest process above that is an MPI's launcher; empty: none is known to be.
  std::string mpi_launcher;
  std::string torchrun;  ///< of the PyTorch of torchrun's agent, the version; empty: not known
  /// What the own host name resolves to; empty: nothing.
  std::optional<std::vector<std::string>> own_addresses;
  std::optional<bool> master_resolves;    ///< does the master's name have an address?
  std::optional<bool> master_port_taken;  ///< asked only where rank 0 would serve on this host
  std::optional<int> first_ephemeral_port, last_ephemeral_port;  ///< ip_local_port_range
  std::optional<int> usable_cores;                               ///< cores this process may run on
  std::optional<int> all_cores;                                  ///< cores of this host
  std::optional<FolderFacts> work_folder, runs_folder;
  std::optional<bool> clock_synchronised;           ///< as the kernel knows it from NTP or PTP
  std::optional<std::string> nvidia_driver;         ///< its version; empty: no driver is loaded
  std::optional<bool> has_infiniband;               ///< is there /dev/infiniband?
  std::optional<std::uint64_t> open_files_limit;    ///< soft limit; UINT64_MAX: unlimited
  std::optional<std::uint64_t> locked_bytes_limit;  ///< soft limit; UINT64_MAX: unlimited
  std::optional<std::string> libtorch;  ///< of this build, told by the program; empty: without
};

/// All that the checks look at.
struct Situation {
  Env env;
  Facts facts;
  std::optional<Resolution> resolution;  ///< empty where the environment does not resolve
  std::optional<Error> error;            ///< and then why
  SystemFacts system;
};

/// Resolves; `system` stays empty.
Situation situation_of(const Env& env, const Facts& facts, const ResolveOptions& options = {});

/// Looks at this machine: files in /proc and /etc, also of the processes above, name resolution,
/// one bind() to the master's port where rank 0 would serve here, one temporary file in
/// runs_folder. Loads the library of the exchange that the launcher offers. Runs no program, opens
/// no exchange, connects to nothing but the name service.
SystemFacts look_up_system(const Situation& situation, const std::string& runs_folder);

/// Every check, in a fixed order. A pure function.
std::vector<Finding> diagnose(const Situation& situation);

}  // namespace hpcboot
