#include "job_table.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "jobs/walltime.hpp"
#include "text/display_width.hpp"
#include "text/table.hpp"

namespace hpcboot::queue {
namespace {

using std::chrono::seconds;

std::string number_text(long number, int digits) {
  std::string text = std::to_string(number);
  while (static_cast<int>(text.size()) < digits) text.insert(text.begin(), '0');
  return text;
}

std::string day_and_time(WallTime time) {
  const std::time_t whole = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::localtime_r(&whole, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts);
  return text.data();
}

seconds between(WallTime from, WallTime to) {
  return std::chrono::duration_cast<seconds>(to - from);
}

// "failed 3". Other states say more than an exit code.
std::string state_cell(const QueuedJob& job) {
  const bool tells = job.state == "failed" || job.state == "exit";
  return job.exit_code && tells ? job.state + " " + std::to_string(*job.exit_code) : job.state;
}

// PBS ids end with a server name, which its commands do not need: "7[]" of "7[].pbs".
std::string id_cell(const std::string& id) {
  const std::size_t dot = id.find('.');
  const bool is_server = dot + 1 < id.size() && (id[dot + 1] < '0' || id[dot + 1] > '9');
  return dot != std::string::npos && is_server ? id.substr(0, dot) : id;
}

std::string time_cell(const QueuedJob& job, WallTime now) {
  if (job.stage == JobStage::running && job.start) {
    const std::string limit = job.limit ? " of " + short_time(*job.limit) : "";
    return short_time(between(*job.start, now)) + limit;
  }
  if (job.stage == JobStage::waiting && job.start && *job.start > now)
    return "in " + short_time(between(now, *job.start));
  if (job.stage == JobStage::ended && job.end) return short_time(between(*job.end, now)) + " ago";
  return "";
}

struct Reason {
  const char* name;
  const char* meaning;
};

// squeue(1), "JOB REASON CODES". Matched as prefixes.
constexpr Reason kReasons[] = {
    {"Priority", "jobs with a higher priority come first"},
    {"Resources", "it waits for nodes to become free"},
    {"BeginTime", "its begin time has not been reached"},
    {"DependencyNeverSatisfied",
     "it will never start: its dependency cannot be satisfied; cancel it"},
    {"Dependency", "it waits for another job"},
    {"JobHeldUser", "its owner holds it: release it with scontrol release"},
    {"JobHeldAdmin", "an administrator holds it: ask the site"},
    {"PartitionTimeLimit", "it will never start: its walltime is longer than the partition allows"},
    {"PartitionNodeLimit",
     "it will never start: its number of nodes is outside the partition's limits"},
    {"PartitionDown", "the partition is down"},
    {"PartitionInactive", "the partition is inactive"},
    {"BadConstraints", "it will never start: no node has what it asks for"},
    {"ReqNodeNotAvail", "nodes that it needs are down or reserved, for example for maintenance"},
    {"Reservation", "its reservation has not started"},
    {"Licenses", "it waits for a license"},
    {"JobArrayTaskLimit", "its array already runs the maximum number of tasks"},
    {"QOS", "it reached a limit of its QOS: see sacctmgr show qos"},
    {"Assoc", "it reached a limit of its account or user: see sacctmgr show assoc"},
    {"InvalidAccount", "it will never start: its account does not exist"},
    {"InvalidQOS", "it will never start: its QOS does not exist"},
    {"launch_failed_requeued_held", "its launch failed: try again with scontrol release"},
    {"NodeDown", "a node that it needs is down"},
};

// The column "WHERE OR WHY": where it runs, or why it does not.
std::string last_cell(const QueuedJob& job) {
  return job.stage == JobStage::waiting ? job.reason : job.hosts;
}

}  // namespace

std::string short_time(seconds time) {
  const long all = std::max(time.count(), 0L);
  if (all < 60) return std::to_string(all) + "s";
  if (all < 3600) return std::to_string(all / 60) + "m";
  if (all < 86400) return std::to_string(all / 3600) + "h" + number_text(all % 3600 / 60, 2) + "m";
  return std::to_string(all / 86400) + "d" + number_text(all % 86400 / 3600, 2) + "h";
}

std::string meaning_of_reason(const std::string& reason) {
  for (const Reason& one : kReasons) {
    if (reason.rfind(one.name, 0) == 0) return one.meaning;
  }
  return "";
}

bool will_never_start(const std::string& reason) {
  return meaning_of_reason(reason).rfind("it will never start", 0) == 0 ||
         reason.rfind("Can Never Run", 0) == 0;
}

std::string words_of_end(const QueuedJob& job) {
  return job.state + (job.exit_code ? ", exit code " + std::to_string(*job.exit_code) : "");
}

Encoded job_table(const std::vector<KnownJob>& jobs, WallTime now, std::size_t columns) {
  constexpr std::size_t kId = 12;
  constexpr std::size_t kState = 13;
  constexpr std::size_t kLeast = 12;  // the title of the last column
  const std::size_t name_width = columns < 100 ? 14 : 30;
  const auto table_of = [&](std::size_t last) {
    TextTable table(
        {Align::left, Align::left, Align::left, Align::right, Align::left, Align::left});
    table.add({"JOB", "NAME", "STATE", "NODES", "TIME", "WHERE OR WHY"});
    const auto shown = [](const std::string& text, std::size_t most) {
      return cut_to_width(terminal_text(text).str(), most);
    };
    for (const KnownJob& one : jobs) {
      const QueuedJob& job = one.job;
      table.add({shown(id_cell(job.id), kId), shown(job.name, name_width),
                 shown(state_cell(job), kState), job.nodes > 0 ? std::to_string(job.nodes) : "",
                 time_cell(job, now), shown(last_cell(job), last)});
    }
    return table;
  };
  // The last column uses the rest of the line.
  const std::size_t width = table_of(kLeast).width();
  return table_of(columns > width ? kLeast + columns - width : kLeast).text();
}

Encoded job_details(const KnownJob& known, WallTime now) {
  const QueuedJob& job = known.job;
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) lines.emplace_back(name, value);
  };
  add("name", job.name);
  const std::string meaning = meaning_of_reason(job.reason);
  if (job.stage == JobStage::ended) {
    add("state", words_of_end(job));
  } else {
    add("state", job.state + (job.reason.empty() ? "" : ": " + job.reason) +
                     (meaning.empty() ? "" : ", " + meaning));
  }
  if (job.stage == JobStage::waiting && job.start)
    add("may start", day_and_time(*job.start) + ", in " + short_time(between(now, *job.start)));
  if (job.stage == JobStage::running && job.start)
    add("started", day_and_time(*job.start) + ", " + short_time(between(*job.start, now)) + " ago");
  if (job.stage == JobStage::ended && job.end) add("ended", day_and_time(*job.end));
  if (job.nodes > 0) add("nodes", std::to_string(job.nodes));
  add("hosts", job.hosts);
  if (job.limit) add("walltime", jobscripts::time_of(static_cast<int>(job.limit->count())));
  if (job.submitted) add("submitted", day_and_time(*job.submitted));
  if (known.submitted) {
    add("from", known.submitted->folder);
    add("by", known.submitted->command);
  }
  for (const std::string& file : job.output) add("output", file);
  if (known.submitted) {
    for (const std::string& folder : run_folders_of(*known.submitted)) add("run", folder);
  }
  TextTable table({Align::left, Align::left});
  table.add({"job", job.id});
  for (const auto& [name, value] : lines) table.add({"  " + name, value});
  return table.text();
}

Json job_json(const KnownJob& known) {
  const QueuedJob& job = known.job;
  const auto time = [](const std::optional<WallTime>& value) {
    return value ? Json(std::chrono::system_clock::to_time_t(*value)) : Json();
  };
  const char* const stages[] = {"waiting", "running", "ended"};
  Json json = {{"id", job.id},
               {"name", job.name},
               {"stage", stages[static_cast<int>(job.stage)]},
               {"state", job.state}};
  json["exit_code"] = job.exit_code ? Json(*job.exit_code) : Json();
  json["nodes"] = job.nodes > 0 ? Json(job.nodes) : Json();
  json["submitted"] = time(job.submitted);
  json["start"] = time(job.start);
  json["end"] = time(job.end);
  json["walltime"] = job.limit ? Json(job.limit->count()) : Json();
  json["reason"] = job.reason;
  json["hosts"] = job.hosts;
  json["output"] = job.output;
  json["folder"] = known.submitted ? Json(known.submitted->folder) : Json();
  json["runs"] = known.submitted ? Json(run_folders_of(*known.submitted)) : Json(Json::array());
  return json;
}

}  // namespace hpcboot::queue
