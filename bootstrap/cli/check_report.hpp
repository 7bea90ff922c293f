#pragma once

#include <optional>
#include <string>

#include "hpcboot/facts.hpp"
#include "hpcboot/job_check.hpp"
#include "json/bounded_json.hpp"

namespace hpcboot::tool {

// What one rank reports to rank 0 in `hpcboot check`.
struct RankReport {
  // Placement, launcher, job, hosts, master, device, interface, and the other_sources that
  // disagree.
  Resolution resolution;
  std::string host;
  std::string version;
  std::string device_id;     // as the mask of this process names it; empty if there is none
  int devices_visible = 0;   // 0 if unknown
  double round_trip_ms = 0;  // to rank 0 and back; 0 on rank 0
};

RankReport report_of(const Env& env, const Facts& facts, const Resolution& resolution);

Json to_json(const RankReport& report);
std::string to_line(const RankReport& report);
// nullopt if it is not a report, or one of another version.
std::optional<RankReport> parse_report(const std::string& line);

// What keeps these ranks from being a job: check_job()'s problems, and those that only a rendezvous
// shows: shared devices and different versions.
std::vector<JobProblem> check_reports(const std::vector<RankReport>& reports);

// The problem's text, and what to do if that is not obvious.
std::string line_of(const JobProblem& problem);

// Worth knowing, but not a problem.
std::vector<std::string> notes_of(const std::vector<RankReport>& reports);

}  // namespace hpcboot::tool
