#pragma once

#include <filesystem>
#include <optional>

namespace hpcboot::monitor {

/// What a host and this process have used since the host or the process started. What the kernel
/// does not tell is empty.
struct HostCounters {
  std::optional<double> busy_seconds;   ///< all processors, by all programs: /proc/stat
  std::optional<double> total_seconds;  ///< the same with the time that they were idle
  std::optional<double> own_seconds;    ///< processor time of this process
  std::optional<double> resident_bytes;
  std::optional<double> received_bytes;  ///< network: /proc/net/dev, and InfiniBand's counters
  std::optional<double> sent_bytes;
  std::optional<double> read_bytes;  ///< disks: /proc/diskstats
  std::optional<double> written_bytes;
};

/// Processor time of this process, in programs and in the system; 0 if the system does not tell.
double own_processor_seconds();

/// Loopback does not count, nor what is counted once more elsewhere: interfaces that belong to a
/// bond or a bridge, VLANs and others on an interface that counts, IP over InfiniBand beside
/// InfiniBand's counters, partitions, and disks that consist of others. What a host passes on, such
/// as a container's traffic, counts on each interface that it takes.
/// @param root of the file system, for tests
HostCounters read_host_counters(const std::filesystem::path& root = "/");

}  // namespace hpcboot::monitor
