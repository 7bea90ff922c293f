#include <algorithm>

#include "checks.hpp"
#include "core/omp_threads.hpp"
#include "hpcboot/endpoint.hpp"

namespace hpcboot::doctor {
namespace {

// Descriptors needed by MPI and other libraries; rank 0's store needs one more per rank.
constexpr std::uint64_t kDescriptorsBesideRanks = 256;
// Less is not enough to register the buffers of one queue pair and a gradient bucket.
constexpr std::uint64_t kLockedBytes = std::uint64_t{64} << 20U;

// The highest index in a device mask; nullopt if it contains UUIDs or nothing.
std::optional<std::int64_t> highest_index(std::string_view mask) {
  std::optional<std::int64_t> highest;
  while (!mask.empty()) {
    const std::size_t end = mask.find(',');
    const auto index = parse_whole_number(mask.substr(0, end));
    // CUDA stops reading at the first entry that is not an index.
    if (!index || *index < 0) break;
    highest = std::max(highest.value_or(0), *index);
    mask.remove_prefix(end == std::string_view::npos ? mask.size() : end + 1);
  }
  return highest;
}

}  // namespace

void check_threads(const Situation& s, Findings& findings) {
  if (!s.system.usable_cores || !s.system.all_cores || !s.resolution) return;
  const int usable = *s.system.usable_cores;
  const int ranks = s.resolution->placement.local_size.value_or(1);
  // A launcher that binds its ranks gives each its own cores.
  const bool bound = usable < *s.system.all_cores;
  const int of_quota = s.system.quota_cores.value_or(usable);
  const int fair = std::max(1, std::min(bound ? usable : usable / ranks, of_quota / ranks));
  const std::string cores =
      std::to_string(usable) + (bound ? " of " + std::to_string(*s.system.all_cores) : "") +
      " cores for " + (bound || ranks == 1 ? "this rank" : std::to_string(ranks) + " local ranks") +
      (of_quota < usable ? ", and a quota of " + std::to_string(of_quota) + " CPUs' time" : "");
  const std::string remedy = "export OMP_NUM_THREADS=" + std::to_string(fair);
  const auto text = s.env.text("OMP_NUM_THREADS");
  if (!text) {
    if (ranks > 1 && !bound) {
      findings.warning("threads",
                       "OMP_NUM_THREADS is not set: each of " + std::to_string(ranks) +
                           " local ranks would start " + std::to_string(usable) + " threads on " +
                           std::to_string(usable) + " cores",
                       remedy);
    } else {
      findings.ok("threads", "OMP_NUM_THREADS is not set; " + cores);
    }
    return;
  }
  const auto threads = omp_threads(s.env);
  if (!threads) {
    findings.warning(
        "threads", "OMP_NUM_THREADS=" + std::string(*text) + " is not a number of threads", remedy);
  } else if (*threads > fair) {
    findings.warning("threads", "OMP_NUM_THREADS=" + std::string(*text) + " is too high: " + cores,
                     remedy);
  } else {
    findings.ok("threads", "OMP_NUM_THREADS=" + std::string(*text) + ", " + cores);
  }
}

void check_devices(const Situation& s, Findings& findings) {
  if (!s.system.nvidia_driver || !s.facts.device_count) return;
  const int count = *s.facts.device_count;
  const auto mask = s.env.raw("CUDA_VISIBLE_DEVICES");
  const std::string shown =
      mask ? ", CUDA_VISIBLE_DEVICES='" + std::string(mask->substr(0, 80)) + "'" : "";
  if (s.system.nvidia_driver->empty()) {
    if (mask && highest_index(*mask)) {
      findings.warning(
          "gpu", "no NVIDIA driver is loaded" + shown + ": no GPU can be used",
          "request a GPU from the scheduler, or unset CUDA_VISIBLE_DEVICES to use the CPU");
    } else {
      findings.note("gpu", "no NVIDIA driver is loaded: the trainer uses the CPU");
    }
    return;
  }
  const std::string driver =
      "driver " + *s.system.nvidia_driver + ", " + std::to_string(count) + " device files";
  if (count == 0) {
    findings.warning(
        "gpu", driver + ": the driver is loaded, but no /dev/nvidia* exists",
        "request a GPU from the scheduler (--gres=gpu:1); in a container, use --nv or --gpus all");
    return;
  }
  if (mask && highest_index(*mask).value_or(0) >= count) {
    findings.problem(
        "gpu", driver + shown + ": an index is out of range",
        "unset CUDA_VISIBLE_DEVICES, or use indices from 0 to " + std::to_string(count - 1));
    return;
  }
  if (mask && (mask->empty() || mask->front() == '-')) {
    findings.note("gpu", driver + shown + ": every device is hidden",
                  "unset CUDA_VISIBLE_DEVICES to use them");
    return;
  }
  const DeviceChoice choice =
      s.resolution ? choose_device(s.env, s.facts, s.resolution->placement.local_rank,
                                   s.resolution->placement.local_size)
                   : DeviceChoice{};
  if (choice.note.empty()) {
    findings.ok("gpu", driver + shown);
  } else if (choice.visible.empty()) {
    findings.warning("gpu", driver + ", " + choice.note, "correct that mask, or unset it");
  } else {
    findings.warning("gpu", driver + shown + ": " + choice.note,
                     "start at most one rank per device on each host");
  }
}

void check_limits(const Situation& s, Findings& findings) {
  if (s.system.thread_error)
    findings.problem("processes", s.system.thread_error->found(), s.system.thread_error->remedy());
  if (s.system.open_files_limit && s.resolution) {
    const Placement& p = s.resolution->placement;
    const std::uint64_t needed =
        kDescriptorsBesideRanks + (p.rank == 0 ? static_cast<std::uint64_t>(p.world_size) : 0);
    const std::uint64_t limit = *s.system.open_files_limit;
    const std::string shown = limit == UINT64_MAX ? "unlimited" : std::to_string(limit);
    if (limit < needed) {
      findings.warning(
          "open files",
          "the limit is " + shown + ", but " + std::to_string(needed) + " may be needed here",
          "run ulimit -n " + std::to_string(2 * needed) + " before the program");
    } else {
      findings.ok("open files", "the limit is " + shown);
    }
  }
  if (s.system.has_infiniband != true || !s.system.locked_bytes_limit) return;
  const std::uint64_t limit = *s.system.locked_bytes_limit;
  if (limit < kLockedBytes) {
    findings.warning("locked memory",
                     "the limit is " + std::to_string(limit >> 10U) +
                         " KiB: InfiniBand cannot register its buffers",
                     "run ulimit -l unlimited; under Slurm, set "
                     "PropagateResourceLimitsExcept=MEMLOCK in slurm.conf");
  } else {
    findings.ok("locked memory", limit == UINT64_MAX
                                     ? "unlimited"
                                     : "the limit is " + std::to_string(limit >> 20U) + " MiB");
  }
}

void check_libtorch(const Situation& s, Findings& findings) {
  if (!s.system.libtorch) return;
  if (s.system.libtorch->empty()) {
    findings.note("libtorch", "built without LibTorch: there is no trainer",
                  "to get the trainer, configure again with LibTorch in CMAKE_PREFIX_PATH");
  } else {
    findings.ok("libtorch", "built with " + *s.system.libtorch);
  }
}

}  // namespace hpcboot::doctor
