#pragma once

#include <optional>
#include <string>

#include "hpcboot/facts.hpp"
#include "hpcboot/job_check.hpp"
#include "json/bounded_json.hpp"

namespace hpcboot::tool {

// What one rank tells rank 0 of itself in `hpcboot check`.
struct RankReport {
  // Placement, launcher, job, hosts, master, device, interface, and the other_sources that
  // disagree.
  Resolution resolution;
  std::string host;
  std::string version;
  std::string device_id;     // as the mask of this process names it; empty where there is none
  int devices_visible = 0;   // 0 where unknown
  double round_trip_ms = 0;  // to rank 0 and back; 0 of rank 0
};

RankReport report_of(const Env& env, const Facts& facts, const Resolution& resolution);

Json to_json(const RankReport& report);
std::string to_line(const RankReport& report);
// nullopt for what is no report, as of another version.
std::optional<RankReport> parse_report(const std::string& line);

// What keeps these ranks from being a job: check_job()'s and those that only a meeting shows,
// devices shared and versions that differ. `missing`
// says of ranks that did not come why.
std::vector<JobProblem> check_reports(const std::vector<RankReport>& reports);

// Worth knowing, and no fault.
std::vector<std::string> notes_of(const std::vector<RankReport>& reports);

}  // namespace hpcboot::tool
