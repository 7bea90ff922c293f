#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "core/export_mark.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/placement.hpp"
#include "hpcboot/version.hpp"
#include "jobs/run/launcher/rank_parent.hpp"
#include "jobs/run/launcher/rank_staging.hpp"
#include "jobs/run/plan/hidden_colon.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "options.hpp"
#include "program_environment.hpp"
#include "rendezvous/handover.hpp"
#include "rendezvous/store/rendezvous.hpp"

namespace hpcboot::tool {
namespace {

constexpr auto kTimeForControl = std::chrono::seconds(10);

// One torchrun per node: this rank is the node's.
std::vector<std::string> torchrun_words(const Resolution& r, int ranks_per_node,
                                        const std::vector<std::string>& command) {
  std::vector<std::string> words = {"torchrun",
                                    "--nnodes=" + std::to_string(r.placement.world_size),
                                    "--nproc_per_node=" + std::to_string(ranks_per_node),
                                    "--node_rank=" + std::to_string(r.placement.rank),
                                    "--master_addr=" + r.master_addr.value_or("127.0.0.1"),
                                    "--master_port=" + std::to_string(r.master_port.value_or(0))};
  const std::string& program = command.front();
  const bool is_python = program.size() > 3 && program.compare(program.size() - 3, 3, ".py") == 0;
  if (!is_python) words.emplace_back("--no_python");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// Ends as the program did, so that the launcher reports the same; but without a core dump, which
// the program has left already.
[[noreturn]] void end_like(const run::RankEnd& end) {
  if (end.signal != 0) {
    const rlimit none{};
    setrlimit(RLIMIT_CORE, &none);
    signal(end.signal, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, end.signal);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    raise(end.signal);
  }
  // The thread that waits for signals from `run` never ends.
  _exit(end.exit_code);
}

// The actual address of rank 0: the launcher may have placed the ranks differently.
std::string agree_on_address(run::ControlLink& control, const Resolution& r,
                             std::chrono::milliseconds deadline) {
  if (r.placement.rank != 0) return control.address_of_rank0(deadline);
  const bool is_chosen = rendezvous::is_chosen_by_user(r, "master_addr");
  std::string address = r.interface_address && !is_chosen ? *r.interface_address
                                                          : r.master_addr.value_or(own_hostname());
  control.tell_address(address);
  return address;
}

// Reports to `run` that the program did not start.
void report_start_failure(run::ControlLink* control, run::RankEnd& end, int exit_code,
                          const std::string& reason) {
  end.exit_code = exit_code;
  end.last_lines = {reason};
  if (control != nullptr) control->report(end);
}

// @param control set as soon as `run` is reached; `stage` as soon as there is something to remove,
// and `rank` as soon as it is known
run::RankEnd start_rank(const po::variables_map& values, const std::vector<std::string>& command,
                        const Arguments& arguments, const run::RankWatch& watch,
                        std::unique_ptr<run::ControlLink>& control,
                        std::unique_ptr<run::Stage>& stage, int& rank) {
  const Env env = rendezvous::with_marked_handover(Env::from_process());
  const std::chrono::seconds timeout(values["timeout"].as<int>());
  std::string staged;
  const auto stage_for = [&](const Placement& p) {
    if (values.count("stage") == 0 || stage) return;
    const run::RankStaging order{values["stage"].as<std::string>(),
                                 std::string(env.text(rendezvous::kHandoverId).value_or("")),
                                 own_hostname(),
                                 p.world_size,
                                 timeout,
                                 control.get(),
                                 &err()};
    staged = run::stage_for_rank(order, env, watch, stage);
  };
  const auto by_control = [&](const Resolution& r) -> std::unique_ptr<KeyValueStore> {
    const Placement& p = r.placement;
    rank = p.rank;
    if (const auto handover = rendezvous::handover_for(env, p.world_size))
      control = run::ControlLink::open(env, *handover, p.rank, kTimeForControl);
    // Before rank 0 chooses a port, which it cannot hold for the time that a copy may take.
    stage_for(p);
    return control ? control->kvs(p.rank, p.world_size) : nullptr;
  };
  ProgramEnvironment made = environment_for_program(
      env, {values["gpu-bind"].as<std::string>() == "auto", timeout, by_control}, "run-rank",
      arguments);
  const Resolution& r = made.resolution;
  stage_for(r.placement);
  run::RankStart start;
  start.rank = r.placement.rank;
  start.world_size = r.placement.world_size;
  start.host = own_hostname();
  start.prefix = values.count("no-prefix") == 0;
  start.whole_lines = values.count("whole-lines") != 0;
  if (values.count("output-dir") != 0) start.output_dir = values["output-dir"].as<std::string>();
  start.is_agent = values.count("torchrun") != 0;
  start.words = start.is_agent ? torchrun_words(r, values["torchrun"].as<int>(), command) : command;
  start.env = std::move(made.variables);
  // The ranks of this launch are the torchruns, and the handover is for that many ranks. Their
  // workers form another launch, which torchrun describes.
  if (start.is_agent) forget_launch(start.env);
  if (stage) {
    start.words = run::with_staged(std::move(start.words), staged);
    start.env[run::kStagedVariable] = staged;
  }
  start.env.erase(run::kControlVariable);
  start.control = control.get();
  start.err = &err();
  if (control && !is_on_one_host(r.placement))
    start.env[rendezvous::kHandoverHosts] = agree_on_address(*control, r, timeout);
  return run::run_rank(start, watch);
}

int run_rank(const Arguments& arguments) {
  options::Command own{
      "hpcboot", "run-rank", "act as the parent of a rank", {"hpcboot run-rank"}, {}};
  own.takes_program = true;
  own.groups = {{"Options",
                 {{"timeout", options::number("SECONDS", 60), ""},
                  {"gpu-bind", options::text_or("MODE", "none"), ""},
                  {"no-prefix", options::flag(), ""},
                  {"whole-lines", options::flag(), ""},
                  {"output-dir", options::text("DIR"), ""},
                  {"stage", options::text("PATH"), ""},
                  {"torchrun", options::number("N"), ""}}}};
  auto parsed = options::parse(own, std::string(version()), arguments);
  if (!parsed) return 0;
  options::finish(own, parsed->values);
  std::vector<std::string> command = std::move(parsed->program);
  std::transform(command.begin(), command.end(), command.begin(), run::show_colon);
  if (command.empty()) throw UsageError("there is no command after --");

  const run::RankWatch watch;
  std::unique_ptr<run::ControlLink> control;
  std::unique_ptr<run::Stage> stage;
  run::RankEnd end;
  end.host = own_hostname();
  try {
    end = start_rank(parsed->values, command, arguments, watch, control, stage, end.rank);
  } catch (const run::ToldToEnd& told) {
    end.signal = told.signal;
    end.was_told = true;
    report_start_failure(control.get(), end, 128 + told.signal, "");
  } catch (const run::CannotExecute& failure) {
    err() << "hpcboot run: " << failure.reason << "\n";
    report_start_failure(control.get(), end, failure.exit_code, failure.reason);
  } catch (const Error& error) {
    print_error("hpcboot run", error);
    report_start_failure(control.get(), end, error.exit_code(), error.found());
  }
  err().flush();
  stage.reset();  // once `run` knows how the rank ended
  end_like(end);
}

}  // namespace

const InternalVerb kRunRank{"run-rank", run_rank};

}  // namespace hpcboot::tool
