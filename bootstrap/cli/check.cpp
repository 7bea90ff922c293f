#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "check_allocation.hpp"
#include "check_bandwidth.hpp"
#include "check_ranks.hpp"
#include "core/counted.hpp"
#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "json/resolution_json.hpp"
#include "options.hpp"
#include "rendezvous.hpp"
#include "rendezvous/store/rendezvous.hpp"
#include "text/table.hpp"

namespace hpcboot::tool {
namespace {

std::string text_of(const std::optional<int>& value) {
  return value ? std::to_string(*value) : "-";
}

std::vector<std::string> row_of(const RankReport& report) {
  const Resolution& r = report.resolution;
  return {std::to_string(r.placement.rank),
          report.host.empty() ? "-" : report.host,
          std::to_string(r.placement.local_rank),
          text_of(r.placement.local_size),
          report.device_id.empty() ? "-" : report.device_id,
          r.interface.value_or("-"),
          r.interface_address.value_or("-"),
          r.placement.rank == 0 ? "-" : fmt::format("{:.3f}", report.round_trip_ms)};
}

void print_table(const std::vector<RankReport>& reports) {
  TextTable table({Align::right, Align::left, Align::right, Align::right, Align::right, Align::left,
                   Align::left, Align::right});
  table.add_titles({"rank", "host", "local_rank", "local_size", "device", "interface", "address",
                    "round_trip_ms"});
  for (const RankReport& report : reports) table.add(row_of(report));
  out() << table.text(look_of(STDOUT_FILENO)) << "\n";
}

std::string endpoint_of(const Resolution& r) {
  if (!r.master_addr) return "-";
  if (!r.master_port) return *r.master_addr;
  const bool is_ipv6 = r.master_addr->find(':') != std::string::npos;
  return (is_ipv6 ? "[" + *r.master_addr + "]" : *r.master_addr) + ":" + text_of(r.master_port);
}

// What rank 0 thinks of the launch.
struct Judgement {
  std::vector<JobProblem> problems;
  std::vector<std::string> notes;
};

// @param links null if they were not measured
void print_json(const std::vector<RankReport>& reports, const Judgement& judgement,
                const Resolution& own, const Json& links) {
  Json object;
  object["ok"] = judgement.problems.empty();
  object["world_size"] = own.placement.world_size;
  object["launcher"] = own.launcher;
  object["master"] = own.master_addr ? Json(endpoint_of(own)) : Json(nullptr);
  object["ranks"] = Json::array();
  for (const RankReport& report : reports) {
    Json rank = to_json(report);
    rank.erase("magic");
    rank["round_trip_ms"] =
        report.resolution.placement.rank == 0 ? Json(nullptr) : Json(report.round_trip_ms);
    object["ranks"].push_back(std::move(rank));
  }
  object["problems"] = Json::array();
  for (const JobProblem& problem : judgement.problems) {
    object["problems"].push_back(
        {{"kind", problem.kind}, {"text", problem.text}, {"names", problem.names}});
  }
  object["notes"] = judgement.notes;
  if (!links.is_null()) object["bandwidth"] = links;
  out() << json_text(object, 2) << "\n";
}

// A step in which most MPIs would silently start N processes as N singletons.
bool has_no_pmi(const Env& env, const Resolution& r) {
  const std::string_view kind = offered_kvs(env);
  return r.launcher == "slurm" && r.placement.world_size > 1 && (kind.empty() || kind == "file");
}

// Adds notes; hosts without a rank are problems if the whole job must be used.
void compare_with_job(const std::vector<RankReport>& reports, const Env& env, bool whole_job,
                      std::vector<JobProblem>& problems, std::vector<std::string>& notes) {
  const auto job = read_allocation(env);
  if (!job) return;
  std::vector<std::string> hosts;
  for (const RankReport& report : reports) hosts.push_back(report.host);
  for (JobProblem& idle : idle_hosts(hosts, *job)) {
    if (whole_job) {
      problems.push_back(std::move(idle));
    } else {
      notes.push_back(std::move(idle.text));
    }
  }
  for (JobProblem& crowded : crowded_hosts(hosts, *job)) notes.push_back(std::move(crowded.text));
}

struct Output {
  bool as_json = false;
  bool whole_job = false;
  bool bandwidth = false;
  double parameters = 0;  // of the model whose gradients --bandwidth exchanges
};

Judgement judgement_of(const std::vector<RankReport>& reports, const Env& env,
                       const Resolution& own, bool whole_job) {
  Judgement judgement{check_reports(reports), notes_of(reports)};
  std::vector<std::string>& notes = judgement.notes;
  compare_with_job(reports, env, whole_job, judgement.problems, notes);
  notes.insert(notes.end(), own.hints.begin(), own.hints.end());
  if (has_no_pmi(env, own)) {
    notes.emplace_back(
        "srun offers neither PMIx nor PMI2: each process of an MPI program would be rank 0 of 1, "
        "or refuse to start; use srun --mpi=pmix or --mpi=pmi2 (srun --mpi=list shows which are "
        "available)");
  }
  return judgement;
}

// @param place where the ranks met; empty for a single rank
bool judge(const std::vector<RankReport>& reports, const Env& env, const Resolution& own,
           const std::string& place, const Output& output) {
  const Judgement judgement = judgement_of(reports, env, own, output.whole_job);
  const bool ok = judgement.problems.empty();
  if (output.as_json) {
    // With links, once they are measured.
    if (!ok || !output.bandwidth || place.empty()) print_json(reports, judgement, own, nullptr);
    return ok;
  }
  print_table(reports);
  for (const std::string& note : judgement.notes) out() << "note: " << note << "\n";
  for (const JobProblem& problem : judgement.problems)
    out() << "wrong: " << line_of(problem) << "\n";
  if (!place.empty()) out() << encoded_format("met in the {}\n", place);
  if (ok) {
    out() << encoded_format("ok: {}, launcher {}, master {}\n",
                            counted(static_cast<std::int64_t>(reports.size()), "rank"),
                            own.launcher, endpoint_of(own));
  }
  out().flush();  // before the others get the verdict and the launcher ends them all
  return ok;
}

// Measures the links of a launch that is right, and shows them.
void show_links(rendezvous::Client& client, const std::vector<RankReport>& reports, const Env& env,
                const Resolution& own, const Output& output) {
  Json json;
  Encoded text;
  try {
    const std::vector<LinkResult> links = measure_links(client, reports);
    json = bandwidth_json(links, reports, output.parameters);
    text = bandwidth_text(links, reports, output.parameters, look_of(STDOUT_FILENO));
  } catch (const Error& problem) {
    json = {{"problem", problem.found()}};
    text = encoded_format("the links were not measured: {}\n", problem.found());
  }
  if (output.as_json) {
    print_json(reports, judgement_of(reports, env, own, output.whole_job), own, json);
  } else {
    out() << "\n" << text;
  }
  out().flush();
}

double parameters_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 1 && number <= 1e18)
    return number;
  throw UsageError("--parameters is '" + text + "'; expected a number such as 25.6e6");
}

options::Command check_command() {
  using options::flag;
  options::Command command{
      "hpcboot",
      "check",
      "try the launch: do all ranks arrive, agree and reach rank 0?",
      {"mpirun -np 4 hpcboot check [OPTIONS]", "srun hpcboot check"},
      {{"srun hpcboot check && srun hpcboot exec -- python3 train.py", "before training"},
       {"srun hpcboot check --bandwidth --parameters 25.6e6", "which link is the slowest?"},
       {"mpirun --hostfile hosts.txt hpcboot check --whole-job", "every host must take part"}}};
  command.details = {
      "Start it once per rank, as you would start the program. All ranks meet at rank 0 as they "
      "would for training, and each proves that it belongs to this launch. Rank 0 prints the ranks "
      "with their hosts, the round-trip time to each (the minimum of five) and the verdict: ranks "
      "are 0 to world_size-1, each once; all agree on sizes, hosts, launcher and job; local ranks "
      "are correct on each host; devices are not shared if there are enough; all ranks run the "
      "same version; no other launcher's variables disagree, unless they are known to come from an "
      "outer launch.",
      "Missing ranks are named. Hosts of the job without a rank are named in a note, or with "
      "--whole-job as an error. All ranks that take part exit with the same code. The master shown "
      "is the endpoint that exec passes to its program; for a process that no launcher placed, "
      "exec takes a free port instead.",
      "--bandwidth then measures links between ranks, one after the other: what TCP carries in the "
      "slower direction. It names the slowest, and says how long the exchange of a model's "
      "gradients takes over it. All pairs of up to 16 ranks are measured; of more, pairs of hosts, "
      "and a pair on each host. Rank 0's command line decides.",
      "Of ranks that have NVIDIA GPUs on one host, --bandwidth shows how these are joined: NVLink, "
      "the kind of PCIe path, and whether they reach each other's memory (P2P). trainer bench "
      "allreduce measures what these links carry."};
  command.groups = {
      {"Options",
       {{"json", flag(),
         "print one JSON object: ok, world_size, launcher, master, ranks, problems, "
         "notes, bandwidth"},
        {"whole-job", flag(), "fail if a host of the job has no rank"},
        {"bandwidth", flag(), "also measure the links between ranks"},
        {"parameters", options::text_or("P", "1.1e9"),
         "of the model whose gradients --bandwidth exchanges"},
        {"timeout", options::number("SECONDS", 60), "wait this long for the ranks"}}}};
  command.exit_codes = {{"0", "the launch is consistent, whatever its links carry"},
                        {"1", "it is not"},
                        {"2", "the command line is wrong"},
                        {"20 to 44", "a rank was not resolved, or did not reach rank 0"}};
  command.more = "hpcboot doctor examines one process in depth";
  return command;
}

int check(const Call& call) {
  const int timeout = call.values["timeout"].as<int>();
  if (timeout < 1) throw UsageError("--timeout must be at least 1 second");
  const Output output{call.values.count("json") != 0, call.values.count("whole-job") != 0,
                      call.values.count("bandwidth") != 0,
                      parameters_of(call.values["parameters"].as<std::string>())};
  const auto deadline = std::chrono::seconds(timeout);
  const auto end = end_after(deadline);

  const Env env = Env::from_process();
  const Facts facts = Facts::of_this_process(env);
  const LocalAnswer alone = resolve_locally(env, facts);
  const std::optional<Resolution>& found = alone.answer;
  // Like the trainer: through the launcher's exchange if the trainer would use it.
  const std::unique_ptr<KeyValueStore> kvs = found ? rendezvous::open_kvs_for(*found, env, deadline)
                                                   : open_way_between(alone, env, deadline).kvs;
  Resolution r = kvs && !alone.has_endpoint
                     ? resolve_together(env, facts, *kvs, time_left(end)).resolution
                     : *found;
  if (r.placement.world_size == 1)
    return judge({report_of(env, facts, r)}, env, r, "", output) ? 0 : 1;
  const rendezvous::Rendezvous meeting = rendezvous::meet(
      found.value_or(r), env, kvs.get(), rendezvous::Purpose::check, time_left(end));
  if (!meeting.warning.empty()) r.hints.push_back(meeting.warning);
  RankReport own = report_of(env, facts, r);
  if (r.placement.rank != 0) {
    own.round_trip_ms = measure_round_trip(*meeting.client);
    const bool ok = report_to_rank0(*meeting.client, own, end,
                                    [&] { take_part_in_links(*meeting.client, own, deadline); });
    return ok ? 0 : 1;
  }
  std::function<void(const std::vector<RankReport>&)> then;
  if (output.bandwidth)
    then = [&](const auto& reports) { show_links(*meeting.client, reports, env, r, output); };
  const bool ok = gather_reports(
      *meeting.client, own, end,
      [&](const auto& reports) { return judge(reports, env, r, meeting.description, output); },
      then);
  return ok ? 0 : 1;
}

}  // namespace

const Verb kCheck{check_command, check, true};

}  // namespace hpcboot::tool
