#include <cmath>

#include "checks.hpp"

namespace hpcboot::doctor {
namespace {

// A run of ResNet50 writes its model (94 MiB) and logs; checkpoints are three times that.
constexpr std::uint64_t kLittleSpace = std::uint64_t{1} << 30U;
// What build tools and checks for stale files tolerate.
constexpr double kClockSkewSeconds = 2;

std::string mebibytes(std::uint64_t bytes) {
  return std::to_string(bytes >> 20U) + " MiB";
}

}  // namespace

void check_work_folder(const Situation& s, Findings& findings) {
  if (!s.system.work_folder) return;
  const FolderFacts& folder = *s.system.work_folder;
  const std::string message = folder.path + " is on " + folder.file_system;
  if (folder.local && spans_hosts(s)) {
    findings.warning("working folder", message + ", which other hosts of this job cannot see",
                     "start from a folder that all hosts share (home, scratch)");
  } else {
    findings.ok("working folder", message);
  }
}

void check_runs_folder(const Situation& s, Findings& findings) {
  if (!s.system.runs_folder) return;
  const FolderFacts& folder = *s.system.runs_folder;
  if (!folder.error.empty()) {
    findings.problem("runs", folder.path + " cannot be used: " + folder.error,
                     "correct the path, or choose another folder with --runs-dir");
    return;
  }
  const std::string place =
      (folder.not_made_yet.empty() ? "" : folder.not_made_yet + ", not made yet: ") + folder.path;
  if (!folder.writable) {
    findings.problem("runs", place + " cannot be written",
                     "correct its permissions or quota, or choose another folder with --runs-dir");
    return;
  }
  const std::string space =
      place + " on " + folder.file_system + " has " + mebibytes(folder.free_bytes) + " free";
  if (folder.local && spans_hosts(s)) {
    findings.warning("runs", space + ", but other hosts of this job cannot see it",
                     "choose a folder that all hosts share with --runs-dir");
  } else if (folder.free_bytes < kLittleSpace) {
    findings.warning("runs", space + "; a run may need 1 GiB",
                     "free up disk space, or choose another folder with --runs-dir");
  } else {
    findings.ok("runs", space);
  }
}

void check_clock(const Situation& s, Findings& findings) {
  const auto ahead =
      s.system.runs_folder ? s.system.runs_folder->clock_ahead_seconds : std::optional<double>();
  if (ahead && std::abs(*ahead) > kClockSkewSeconds) {
    findings.warning(
        "clock",
        "the file system's clock is " +
            std::to_string(static_cast<long>(std::lround(std::abs(*ahead)))) + " s " +
            (*ahead > 0 ? "ahead of" : "behind") +
            " this host's: timestamps of runs and logs from different hosts cannot be compared",
        "tell your administrator (NTP, PTP)");
  } else if (s.system.clock_synchronised == false) {
    findings.note("clock", "the kernel does not report this host's clock as synchronised",
                  "no action needed in a container; on a node, tell your administrator (NTP, PTP)");
  } else if (s.system.clock_synchronised || ahead) {
    findings.ok("clock",
                s.system.clock_synchronised ? "synchronised" : "within 2 s of the file system's");
  }
}

}  // namespace hpcboot::doctor
