#include <unistd.h>

#include <algorithm>

#include "core/counted.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/job_check.hpp"
#include "json/capture_folder.hpp"
#include "json/resolution_json.hpp"
#include "options.hpp"
#include "text/table.hpp"

namespace hpcboot::tool {
namespace {

struct Replay {
  std::vector<ReportedRank> ranks;
  Json unresolved = Json::object();  // name -> the parts of its error
  std::vector<JobProblem> problems;
};

Replay replay_folder(const std::string& folder) {
  Replay replay;
  for (const std::string& name : list_capture(folder)) {
    ReportedRank rank;
    rank.name = name;
    try {
      const CapturedRank captured = read_captured_rank(folder, name);
      rank.hostname = captured.facts.hostname.value_or("");
      rank.resolution = resolve(captured.env, captured.facts, captured.options);
    } catch (const Error& error) {
      rank.error = std::string(name_of(error.code())) + ": " + error.found();
      replay.unresolved[name] = {{"error", name_of(error.code())},
                                 {"found", error.found()},
                                 {"expected", error.expected()},
                                 {"do", error.remedy()}};
    }
    replay.ranks.push_back(std::move(rank));
  }
  replay.problems = check_job(replay.ranks);
  return replay;
}

// What is wrong with one process, in a few words.
std::string verdict_of(const std::string& name, const std::vector<JobProblem>& problems) {
  std::string verdict;
  for (const JobProblem& problem : problems) {
    const auto& names = problem.names;
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    verdict += (verdict.empty() ? "" : ", ") + problem.kind;
  }
  return verdict.empty() ? "ok" : verdict;
}

std::vector<std::string> row_of(const ReportedRank& rank, const std::vector<JobProblem>& problems) {
  const auto text = [](const std::optional<int>& value) {
    return value ? std::to_string(*value) : "-";
  };
  std::vector<std::string> row(9, "-");
  row[0] = rank.name;
  if (!rank.hostname.empty()) row[5] = rank.hostname;
  row[8] = verdict_of(rank.name, problems);
  if (!rank.resolution) return row;
  const Resolution& r = *rank.resolution;
  row[1] = text(r.placement.rank);
  row[2] = text(r.placement.world_size);
  row[3] = text(r.placement.local_rank);
  row[4] = text(r.placement.node_rank);
  row[6] = r.launcher;
  if (r.master_addr) row[7] = *r.master_addr + ":" + text(r.master_port);
  return row;
}

void print_table(const Replay& replay) {
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right, Align::left,
                   Align::left, Align::left, Align::left});
  table.add_titles({"name", "rank", "world_size", "local_rank", "node_rank", "host", "launcher",
                    "master", "verdict"});
  for (const ReportedRank& rank : replay.ranks) table.add(row_of(rank, replay.problems));
  out() << table.text(look_of(STDOUT_FILENO)) << "\n";
  for (const std::string& note : notes_of_job(replay.ranks)) out() << "note: " << note << "\n";
  for (const JobProblem& problem : replay.problems) out() << "wrong: " << problem.text << "\n";
  if (replay.problems.empty()) {
    out() << "ok: " << counted(static_cast<std::int64_t>(replay.ranks.size()), "rank")
          << ", consistent\n";
  }
}

// "ranks" has the form of expected.json in tests/golden/env.
Json to_json(const Replay& replay) {
  Json out;
  out["ok"] = replay.problems.empty();
  out["ranks"] = Json::object();
  for (const ReportedRank& rank : replay.ranks) {
    if (!rank.resolution) continue;
    const bool has_rank = rank.name.rfind("rank", 0) == 0;
    out["ranks"][has_rank ? rank.name.substr(4) : rank.name] = hpcboot::to_json(*rank.resolution);
  }
  out["unresolved"] = replay.unresolved;
  out["problems"] = Json::array();
  for (const JobProblem& problem : replay.problems) {
    out["problems"].push_back(
        {{"kind", problem.kind}, {"text", problem.text}, {"names", problem.names}});
  }
  return out;
}

options::Command replay_command() {
  options::Command command{"hpcboot",
                           "replay",
                           "resolve every rank of a capture and check that they form a job",
                           {"hpcboot replay [OPTIONS] DIR"},
                           {{"hpcboot replay job", "a table of the ranks, and the verdict"},
                            {"hpcboot replay --json job", "the same for programs"}}};
  command.details = {
      "Resolves every rank that `hpcboot capture DIR` recorded, from the files alone, and checks "
      "that they form a job: ranks 0 to world_size-1, each once; equal sizes, hosts and master; "
      "correct local ranks on every host. Ranks that are missing, cannot be resolved or disagree "
      "are named."};
  command.groups = {{"Options",
                     {{"json", options::flag(),
                       "print one JSON object: ok, ranks as `hpcboot show --json` prints each, "
                       "unresolved, problems"}}}};
  command.operands = {{"dir", options::text("DIR", options::Completes::folder), 1}};
  command.exit_codes = {{"0", "the ranks form a job"},
                        {"1", "they do not"},
                        {"2", "the command line is wrong"},
                        {"27, 28", "DIR cannot be read, or is not a capture"}};
  return command;
}

int replay(const Call& call) {
  if (call.values.count("dir") == 0) throw UsageError("replay needs the folder that capture wrote");
  const Replay result = replay_folder(call.values["dir"].as<std::string>());
  if (call.values.count("json") != 0) {
    out() << json_text(to_json(result), 2) << "\n";
  } else {
    print_table(result);
  }
  return result.problems.empty() ? 0 : 1;
}

}  // namespace

const Verb kReplay{replay_command, replay, true};

}  // namespace hpcboot::tool
