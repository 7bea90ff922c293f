#include "check_report.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/version.hpp"
#include "json/json_reader.hpp"
#include "json/resolution_json.hpp"

namespace hpcboot::tool {
namespace {

constexpr const char* kMagic = "hpcboot check 1";

std::string name_of(const RankReport& report) {
  return "rank" + std::to_string(report.resolution.placement.rank);
}

// Ranks by the device that they would use: (host, device) -> ranks.
std::map<std::pair<std::string, std::string>, std::vector<const RankReport*>> by_device(
    const std::vector<RankReport>& reports) {
  std::map<std::pair<std::string, std::string>, std::vector<const RankReport*>> users;
  for (const RankReport& report : reports) {
    if (!report.device_id.empty()) users[{report.host, report.device_id}].push_back(&report);
  }
  return users;
}

std::string names_of(const std::vector<const RankReport*>& reports) {
  std::string text;
  for (const RankReport* report : reports) text += (text.empty() ? "" : ", ") + name_of(*report);
  return text;
}

// Whether these ranks could have devices of their own. Ranks that see a single device each may see
// different ones under the same number: control groups renumber devices for each task.
bool could_differ(const std::vector<const RankReport*>& users, int ranks_on_host) {
  return std::any_of(users.begin(), users.end(), [&](const RankReport* user) {
    return user->devices_visible >= 2 && ranks_on_host <= user->devices_visible;
  });
}

int ranks_on(const std::string& host, const std::vector<RankReport>& reports) {
  int count = 0;
  for (const RankReport& report : reports) count += report.host == host ? 1 : 0;
  return count;
}

std::vector<ReportedRank> as_reported(const std::vector<RankReport>& reports) {
  std::vector<ReportedRank> ranks;
  for (const RankReport& report : reports)
    ranks.push_back({name_of(report), report.host, report.resolution, ""});
  return ranks;
}

}  // namespace

RankReport report_of(const Env& env, const Facts& facts, const Resolution& resolution) {
  RankReport report;
  report.resolution = resolution;
  report.host = facts.hostname.value_or("");
  report.version = std::string(version());
  if (!resolution.device) return report;
  const Placement& p = resolution.placement;
  const DeviceChoice choice = choose_device(env, facts, p.local_rank, p.local_size);
  report.device_id = choice.visible[static_cast<std::size_t>(*resolution.device)];
  report.devices_visible = static_cast<int>(choice.visible.size());
  return report;
}

Json to_json(const RankReport& report) {
  Json object = hpcboot::to_json(report.resolution);
  object.erase("provenance");
  object["conflicts"] = Json::array();
  for (const Json& other_source : object["witnesses"]) {
    if (!other_source["agrees"].get<bool>()) object["conflicts"].push_back(other_source);
  }
  object.erase("witnesses");
  object["magic"] = kMagic;
  object["host"] = report.host;
  object["address"] = report.resolution.interface_address
                          ? Json(*report.resolution.interface_address)
                          : Json(nullptr);
  object["version"] = report.version;
  object["device_id"] = report.device_id;
  object["devices_visible"] = report.devices_visible;
  object["round_trip_ms"] = report.round_trip_ms;
  return object;
}

std::string to_line(const RankReport& report) {
  return json_text(to_json(report)).str();
}

std::optional<RankReport> parse_report(const std::string& line) {
  // The line may come from another version.
  constexpr JsonLimits kLimits{std::size_t{1} << 20U, 4, 100'000};
  try {
    const Json object = parse_json(line, kLimits);
    const JsonReader reader("a report", object);
    if (reader.text("magic") != kMagic) return std::nullopt;
    const auto text = [&](const char* key) {
      return reader.require(key, reader.text(key), "a string");
    };
    const auto number = [&](const char* key) {
      return reader.require(key, reader.small_integer(key), "a whole number");
    };
    RankReport report;
    Resolution& r = report.resolution;
    r.placement.rank = number("rank");
    r.placement.world_size = number("world_size");
    r.placement.local_rank = number("local_rank");
    r.placement.local_size = reader.small_integer("local_size");
    r.placement.node_rank = reader.small_integer("node_rank");
    r.placement.num_nodes = reader.small_integer("num_nodes");
    r.master_addr = reader.text("master_addr");
    r.master_port = reader.small_integer("master_port");
    report.round_trip_ms =
        reader.require("round_trip_ms", reader.number("round_trip_ms"), "a number");
    r.launcher = text("launcher");
    r.job_id = reader.text("job_id");
    r.hosts = reader.texts("hosts").value_or(std::vector<std::string>{});
    r.device = reader.small_integer("device");
    r.interface = reader.text("interface");
    r.interface_address = reader.text("address");
    reader.for_each_object("conflicts", [&](const JsonReader& conflict) {
      r.other_sources.push_back(
          {conflict.require("source", conflict.text("source"), "a string"), false,
           conflict.require("explained", conflict.boolean("explained"), "true or false"),
           conflict.require("note", conflict.text("note"), "a string")});
    });
    report.host = text("host");
    report.version = text("version");
    report.device_id = text("device_id");
    report.devices_visible = number("devices_visible");
    return report;
  } catch (const JsonError&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string line_of(const JobProblem& problem) {
  static const std::map<std::string, std::string> kRemedies = {
      {"missing rank", "check that rank's output and host, or raise --timeout"},
      {"duplicate rank",
       "start the program once, with one launcher, and unset rank variables that were set by hand"},
      {"launchers disagree",
       "set HPCBOOT_METHODS to the launcher that started these ranks, or unset the variables of "
       "the other one"},
      {"device shared", "check the device masks and HPCBOOT_DEVICE_ORDER of these ranks"},
      {"version differs", "install the same version everywhere"}};
  const auto found = kRemedies.find(problem.kind);
  if (found != kRemedies.end()) return problem.text + "; " + found->second;
  // A field that is wrong, or differs between ranks.
  for (const char* field : {" differs", " wrong", " twice"}) {
    if (problem.kind.find(field) != std::string::npos)
      return problem.text + "; hpcboot show --explain on these ranks shows where it comes from";
  }
  return problem.text;
}

std::vector<JobProblem> check_reports(const std::vector<RankReport>& reports) {
  std::map<std::string, std::vector<std::string>> by_version;
  for (const RankReport& report : reports) by_version[report.version].push_back(name_of(report));
  std::vector<JobProblem> problems = check_job(as_reported(reports));
  for (const auto& [place, users] : by_device(reports)) {
    if (users.size() < 2 || !could_differ(users, ranks_on(place.first, reports))) continue;
    std::vector<std::string> names;
    for (const RankReport* user : users) names.push_back(name_of(*user));
    problems.push_back({"device shared",
                        "device " + place.second + " of host " + place.first + " is used by " +
                            names_of(users) + ", although there are enough for all ranks",
                        std::move(names)});
  }
  if (by_version.size() > 1) {
    std::string text;
    for (const auto& [version, names] : by_version)
      text += (text.empty() ? "" : ", ") + version + " on " + std::to_string(names.size());
    problems.push_back(
        {"version differs", "the ranks run different versions of hpcboot: " + text + " ranks", {}});
  }
  return problems;
}

std::vector<std::string> notes_of(const std::vector<RankReport>& reports) {
  std::vector<std::string> notes = notes_of_job(as_reported(reports));
  for (const auto& [place, users] : by_device(reports)) {
    if (users.size() < 2 || could_differ(users, ranks_on(place.first, reports))) continue;
    notes.push_back(users.front()->devices_visible == 1
                        ? "on host " + place.first + " each of " + names_of(users) +
                              " sees one device, with the same number: they may share it"
                        : "device " + place.second + " of host " + place.first + " is shared by " +
                              names_of(users));
  }
  return notes;
}

}  // namespace hpcboot::tool
