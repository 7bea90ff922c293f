#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/bounded_json.hpp"
#include "record/run_record.hpp"

namespace hpcboot::train {

/// What one rank sees of its host at one moment. What /proc does not tell is empty.
struct HostLook {
  std::string host;
  std::optional<int> processors;       ///< online
  std::optional<double> load;          ///< over the last minute: /proc/loadavg
  std::optional<int> running;          ///< threads that run or are ready to: /proc/loadavg
  std::optional<double> busy_seconds;  ///< of all processors in programs, since boot: /proc/stat
  double own_seconds = 0;              ///< processor time of this process
  double time = 0;                     ///< seconds of a clock that only goes forward
  int threads = 1;                     ///< that this rank computes with
};

HostLook look_at_host(const std::string& host, int threads);

Json to_json(const HostLook& look);
/// @param from names the source in errors. @throws Error{malformed_file}
HostLook host_look_from_json(const Json& json, const std::string& from);

/// The hosts at the start of a run, by their first rank.
///
/// A host is busy where other programs leave the run's threads less than three quarters of the
/// processors that they could use. At the start both the load of the last minute and the threads
/// that are ready now have to say so: the load still has what ended just before, such as an earlier
/// start of this run, and of this moment alone a short burst would do.
/// @param looks one of each rank, by rank
std::vector<record::HostRecord> hosts_at_start(const std::vector<HostLook>& looks);

/// Fills in what is known at the end. The load then has the run's own threads, so that the
/// processor time tells who else was there; of less than ten seconds it tells nothing.
/// @param hosts hosts_at_start(first)
/// @param first, last one look of each rank, by rank: of the same ranks
void add_end(std::vector<record::HostRecord>& hosts, const std::vector<HostLook>& first,
             const std::vector<HostLook>& last);

/// "host n2 was busy at the start: load 14.2 on 4 processors"; a line for each busy host, of many
/// for the first few and their number.
std::vector<std::string> busy_at_start(const std::vector<record::HostRecord>& hosts);

/// "host n2 was busy: other programs took 2.6 of its 4 processors", for those that have become so.
/// @param before the hosts as they were at the start
std::vector<std::string> busy_since(const std::vector<record::HostRecord>& hosts,
                                    const std::vector<record::HostRecord>& before);

}  // namespace hpcboot::train
