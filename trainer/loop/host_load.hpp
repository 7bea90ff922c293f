#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/bounded_json.hpp"
#include "record/run_record.hpp"

namespace hpcboot::train {

/// The state of a host as seen by one rank. What /proc does not report is empty.
struct HostLook {
  std::string host;
  std::optional<int> processors;       ///< online
  std::optional<double> load;          ///< over the last minute: /proc/loadavg
  std::optional<int> running;          ///< threads that are running or runnable: /proc/loadavg
  std::optional<double> busy_seconds;  ///< all processors, in programs, since boot: /proc/stat
  double own_seconds = 0;              ///< CPU time of this process
  double time = 0;                     ///< seconds of a monotonic clock
  int threads = 1;                     ///< that this rank computes with
};

HostLook look_at_host(const std::string& host, int threads);

Json to_json(const HostLook& look);
/// @param from names the source in errors. @throws Error{malformed_file}
HostLook host_look_from_json(const Json& json, const std::string& from);

/// The hosts at the start of a run, ordered by their first rank.
///
/// A host is busy if other programs leave the run's threads less than three quarters of the
/// processors that they could use. At the start, both the load of the last minute and the threads
/// runnable now must show this: the load still includes programs that ended just before, such as an
/// earlier start of this run, and the present moment alone could be a short burst.
/// @param looks one of each rank, by rank
std::vector<record::HostRecord> hosts_at_start(const std::vector<HostLook>& looks);

/// Adds what is known at the end. The load then includes the run's own threads, so the CPU time
/// shows whether other programs ran; under ten seconds it is not significant.
/// @param hosts hosts_at_start(first)
/// @param first, last one look of each rank, by rank: of the same ranks
void add_end(std::vector<record::HostRecord>& hosts, const std::vector<HostLook>& first,
             const std::vector<HostLook>& last);

/// "host n2 was busy at the start: load 14.2 on 4 processors": a line for each busy host; if there
/// are many, for the first few, and the number of the others.
std::vector<std::string> busy_at_start(const std::vector<record::HostRecord>& hosts);

/// "host n2 was busy: other programs took 2.6 of its 4 processors", for hosts that became busy
/// since the start.
/// @param before the hosts at the start
std::vector<std::string> busy_since(const std::vector<record::HostRecord>& hosts,
                                    const std::vector<record::HostRecord>& before);

}  // namespace hpcboot::train
