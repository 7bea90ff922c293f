#include "slurm_names.hpp"

#include <algorithm>
#include <array>

#include "core/contains.hpp"
#include "core/word_distance.hpp"

namespace hpcboot::lint {
namespace {

// The options that sbatch 22.05 accepted in tests, and those of 23.02 to 25.05 (sbatch(1)); sorted.
constexpr std::array<std::string_view, 112> kNames = {"account",
                                                      "acctg-freq",
                                                      "array",
                                                      "batch",
                                                      "bb",
                                                      "bbf",
                                                      "begin",
                                                      "chdir",
                                                      "cluster",
                                                      "cluster-constraint",
                                                      "clusters",
                                                      "comment",
                                                      "constraint",
                                                      "container",
                                                      "context",
                                                      "contiguous",
                                                      "core-spec",
                                                      "cores-per-socket",
                                                      "cpu-freq",
                                                      "cpus-per-gpu",
                                                      "cpus-per-task",
                                                      "deadline",
                                                      "delay-boot",
                                                      "dependency",
                                                      "distribution",
                                                      "error",
                                                      "exclude",
                                                      "exclusive",
                                                      "export",
                                                      "export-file",
                                                      "extra-node-info",
                                                      "get-user-env",
                                                      "gid",
                                                      "gpu-bind",
                                                      "gpu-freq",
                                                      "gpus",
                                                      "gpus-per-node",
                                                      "gpus-per-socket",
                                                      "gpus-per-task",
                                                      "gres",
                                                      "gres-flags",
                                                      "help",
                                                      "hint",
                                                      "hold",
                                                      "ignore-pbs",
                                                      "input",
                                                      "job-name",
                                                      "kill-on-invalid-dep",
                                                      "licenses",
                                                      "mail-type",
                                                      "mail-user",
                                                      "mcs-label",
                                                      "mem",
                                                      "mem-bind",
                                                      "mem-per-cpu",
                                                      "mem-per-gpu",
                                                      "mincpus",
                                                      "network",
                                                      "nice",
                                                      "no-kill",
                                                      "no-requeue",
                                                      "nodefile",
                                                      "nodelist",
                                                      "nodes",
                                                      "ntasks",
                                                      "ntasks-per-core",
                                                      "ntasks-per-gpu",
                                                      "ntasks-per-node",
                                                      "ntasks-per-socket",
                                                      "ntasks-per-tres",
                                                      "open-mode",
                                                      "output",
                                                      "overcommit",
                                                      "oversubscribe",
                                                      "parsable",
                                                      "partition",
                                                      "power",
                                                      "prefer",
                                                      "priority",
                                                      "profile",
                                                      "propagate",
                                                      "qos",
                                                      "quiet",
                                                      "reboot",
                                                      "requeue",
                                                      "reservation",
                                                      "segment",
                                                      "share",
                                                      "signal",
                                                      "sockets-per-node",
                                                      "spread-job",
                                                      "stepmgr",
                                                      "switches",
                                                      "tasks-per-node",
                                                      "test-only",
                                                      "thread-spec",
                                                      "threads-per-core",
                                                      "time",
                                                      "time-min",
                                                      "tmp",
                                                      "tres-bind",
                                                      "tres-per-task",
                                                      "uid",
                                                      "usage",
                                                      "use-min-nodes",
                                                      "verbose",
                                                      "version",
                                                      "wait",
                                                      "wait-all-nodes",
                                                      "wckey",
                                                      "workdir",
                                                      "wrap"};

// The options that srun 22.05 accepts and sbatch does not.
constexpr std::array<std::string_view, 27> kOfSrun = {"accel-bind",
                                                      "bcast",
                                                      "cpu-bind",
                                                      "disable-status",
                                                      "epilog",
                                                      "exact",
                                                      "het-group",
                                                      "immediate",
                                                      "interactive",
                                                      "jobid",
                                                      "kill-on-bad-exit",
                                                      "label",
                                                      "mpi",
                                                      "msg-timeout",
                                                      "multi-prog",
                                                      "overlap",
                                                      "preserve-env",
                                                      "prolog",
                                                      "pty",
                                                      "quit-on-interrupt",
                                                      "relative",
                                                      "resv-ports",
                                                      "send-libs",
                                                      "slurmd-debug",
                                                      "task-epilog",
                                                      "task-prolog",
                                                      "unbuffered"};

}  // namespace

std::string slurm_option_name(std::string_view written) {
  const auto* const found = std::lower_bound(kNames.begin(), kNames.end(), written);
  const auto begins = [&](const std::string_view* name) {
    return name != kNames.end() && name->substr(0, written.size()) == written;
  };
  std::string_view name = written;
  if (!written.empty() && begins(found) && (*found == written || !begins(found + 1))) name = *found;
  return std::string(name == "tasks-per-node" ? "ntasks-per-node" : name);
}

UnknownOption unknown_slurm_option(std::string_view written) {
  UnknownOption unknown;
  if (std::binary_search(kNames.begin(), kNames.end(), written)) return unknown;
  for (const std::string_view name : kNames) {
    if (name.substr(0, written.size()) == written) unknown.beginnings.emplace_back(name);
  }
  if (unknown.beginnings.size() == 1) unknown.beginnings.clear();  // a valid abbreviation
  unknown.is_of_srun = contains(kOfSrun, written);
  if (unknown.is_of_srun || !unknown.beginnings.empty() || slurm_option_name(written) != written)
    return unknown;
  std::size_t least = std::min<std::size_t>(2, written.size() / 3) + 1;
  for (const std::string_view name : kNames) {
    const std::size_t distance = word_distance(written, name, least);
    if (distance >= least) continue;
    least = distance;
    unknown.nearest = name;
  }
  return unknown;
}

}  // namespace hpcboot::lint
