#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>

#include "core/contains.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "jobs/run/agents/agents.hpp"
#include "jobs/run/job/job_course.hpp"
#include "jobs/run/launcher/launcher_run.hpp"
#include "jobs/run/plan/working_folder.hpp"
#include "options.hpp"
#include "rank_counts.hpp"
#include "rendezvous/store/fresh_handover.hpp"
#include "run_submit.hpp"
#include "script_words.hpp"
#include "study.hpp"

namespace hpcboot::tool {
namespace {

std::vector<options::Group> run_options() {
  using options::choice;
  using options::Completes;
  using options::flag;
  using options::list;
  using options::number;
  using options::text;
  std::vector<options::Group> groups = {
      {"Ranks and hosts",
       {{"ranks,n", text("N").otherwise_is("as granted; outside a job one per GPU, or 1"),
         "ranks in total; with --study several, such as 1,2,4,8"},
        {"nodes", number("N").otherwise_is("all; with --submit 1"),
         "use the first N hosts; with --submit, request N nodes"},
        {"ranks-per-node", text("N|gpu|numa|core").suggest({"gpu", "numa", "core"}),
         "ranks on each host: a number, or one for each GPU, NUMA node or core"},
        {"oversubscribe", flag(), "allow more ranks than were granted"},
        {"hostfile", text("F", Completes::file), "hosts and slots, in mpirun's format"},
        {"launcher",
         text("L")
             .otherwise_is("chosen automatically")
             .suggest(
                 {"srun", "mpirun", "pals", "flux", "jsrun", "ssh", "qrsh", "blaunch", "local"}),
         "srun, mpirun, pals, flux, jsrun, ssh, qrsh, blaunch or local"},
        {"launcher-args", text("ARGS"), "more options for the launcher, split at spaces"},
        {"torchrun", flag(), "start the ranks of each host with one torchrun there"},
        {"timeout", number("SECONDS", 60),
         "wait this long for the ranks to meet, and for the launcher to end after them"},
        {"dry-run", flag(), "print the plan and exit; start nothing"}}},
      {"Environment and output of the ranks",
       {{"env", list("NAME[=VALUE]"), "pass this variable to every rank; may be repeated"},
        {"gpu-bind", choice({"auto", "none"}, "none"),
         "auto: each rank sees only its own device, as device 0"},
        {"chdir", text("DIR", Completes::folder).otherwise_is("the current one"),
         "working folder of the ranks"},
        {"stage", text("PATH", Completes::file).once(),
         "copy PATH to each host's own disk first; {staged} in ARGUMENTs stands for the copy"},
        {"output-dir", options::output("DIR", Completes::folder),
         "also write the output of each rank to DIR/rank_NNNN.out and .err"},
        {"no-prefix", flag(), "omit [rank host] before each line on a terminal"}}},
      {"Walltime and hangs",
       {{"warn", number("SECONDS").otherwise_is("120 with --requeue"),
         "send SIGUSR1 to every rank this long before the walltime ends"},
        {"requeue", flag(),
         "requeue the job if PROGRAM exits with 46 (stopped cleanly) or a host is lost"},
        {"retries", number("N", 3), "maximum number of attempts in a row without progress"},
        {"silence", number("SECONDS"),
         "if no rank writes anything for this long, print the stacks of all ranks and end the "
         "run"}}}};
  groups.push_back({"Scaling studies",
                    {{"study", choice({"strong", "weak"}),
                      "run PROGRAM once for each number of --ranks, with the same work (strong) or "
                      "the same work "
                      "for each rank (weak); {1000*ranks} in ARGUMENTs stands for that product"},
                     {"repeat", number("N", 3), "runs of a study for each number of ranks"}}});
  groups.push_back(submit_options());
  return groups;
}

options::Command run_command() {
  options::Command command{
      "hpcboot",
      "run",
      "start a program's ranks: on this machine, on hosts, or in a job",
      {"hpcboot run [OPTIONS] -- PROGRAM [ARGUMENT…]"},
      {{"hpcboot run -- python3 train.py", "here: one rank per GPU"},
       {"hpcboot run -n 4 -- ./program", "here: 4 ranks"},
       {"hpcboot run --hostfile hosts.txt -- ./program", "lab machines: mpirun or ssh"},
       {"hpcboot run --dry-run -- ./program", "what would be started"},
       {"hpcboot run --submit --nodes 2 -- ./program", "a job; then: hpcboot jobs"},
       {"hpcboot run --study strong --ranks 1,2,4 -- trainer --batch-size 96", "how it scales"}}};
  command.takes_program = true;
  command.details = {
      "In an allocation of Slurm, PBS, Torque, Grid Engine, LSF or Flux the ranks start on its "
      "hosts, one per granted task, through the launcher that fits the scheduler:\n"
      "    sbatch -N2 --ntasks-per-node=4 --wrap 'hpcboot run -- python3 train.py'",
      "PROGRAM may use torch.distributed or MPI, or be the trainer. It finds RANK, WORLD_SIZE, "
      "LOCAL_RANK, MASTER_ADDR, MASTER_PORT and similar variables in its environment. Standard "
      "input goes to rank 0.",
      "If a rank fails, the others are terminated, and hpcboot names the one that "
      "failed first. "
      "Ctrl-C, SIGTERM and SIGHUP reach every rank once; ranks that are still alive 30 s later are "
      "killed. A second signal kills immediately. SIGUSR1 and SIGUSR2 are passed on to every rank.",
      "With --requeue, training may outlast its job: every rank gets SIGUSR1 120 s before the "
      "walltime ends; if PROGRAM then saves its state and exits with 46, the job is requeued. With "
      "--silence SECONDS, a "
      "run in which no rank writes anything for that long ends with exit code 32, after printing "
      "the stacks of all ranks (by gdb, eu-stack or py-spy)."};
  command.groups = run_options();
  command.operands = {{"program", options::list("PROGRAM", options::Completes::program), -1}};
  command.exit_codes = {
      {"0", "every rank exited with 0"},
      {"1 to 255", "of the rank that failed first; 128 + n after signal n"},
      {"2", "the command line is wrong; nothing was started"},
      {"20 and up", "printed with \"error N\" by hpcboot: no rank was started (but see 32)"},
      {"32", "the ranks did not meet in time, or --silence ended the run"}};
  command.more = "bootstrap/jobs/README.md of the project";
  return command;
}

std::optional<std::string> text_of(const po::variables_map& values, const char* name) {
  if (values.count(name) == 0) return std::nullopt;
  return values[name].as<std::string>();
}

std::optional<int> count_of(const po::variables_map& values, const char* name) {
  if (values.count(name) == 0) return std::nullopt;
  const int number = values[name].as<int>();
  if (number < 1) throw UsageError("--" + std::string(name) + " must be at least 1");
  return number;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// Absolute, so that it means the same on every host and in every working folder.
std::string whole_path(const Env& env, const std::string& text) {
  std::error_code reason;
  namespace fs = std::filesystem;
  fs::path whole = text.empty() ? "" : run::absolute_path(env, text);
  // After a link, ".." refers to the parent of its target. Any other path is kept as all hosts have
  // it.
  if (!reason && contains(whole, "..")) whole = fs::weakly_canonical(whole, reason);
  std::string path = whole.lexically_normal().string();
  while (!path.empty() && path.back() == '/') path.pop_back();
  if (!reason && !path.empty()) return path;
  throw Error(ErrorCode::malformed_value, "--stage '" + text + "'",
              "the path of a file or a folder that all hosts see", "correct the path");
}

run::RunRequest request_of(const Env& env, const po::variables_map& values,
                           std::vector<std::string> command) {
  run::RunRequest request;
  request.command = std::move(command);
  request.ranks = rank_count_of(values);
  request.nodes = count_of(values, "nodes");
  request.timeout = std::chrono::seconds(*count_of(values, "timeout"));
  if (const auto silence = count_of(values, "silence"))
    request.silence = std::chrono::seconds(*silence);
  request.ranks_per_node = text_of(values, "ranks-per-node");
  request.hostfile = text_of(values, "hostfile");
  request.launcher = text_of(values, "launcher");
  request.launcher_args = words_of(text_of(values, "launcher-args").value_or(""));
  request.chdir = text_of(values, "chdir");
  if (const auto folder = text_of(values, "output-dir"))
    request.output_dir = run::absolute_path(env, *folder);
  if (const auto path = text_of(values, "stage")) request.stage = whole_path(env, *path);
  if (values.count("env") != 0) request.env = values["env"].as<std::vector<std::string>>();
  request.gpu_bind = values["gpu-bind"].as<std::string>() == "auto";
  if (const auto warn = count_of(values, "warn")) request.warn = std::chrono::seconds(*warn);
  request.requeue = values.count("requeue") != 0;
  request.retries = values["retries"].as<int>();
  if (request.retries < 0) throw UsageError("--retries must be at least 0");
  request.torchrun = values.count("torchrun") != 0;
  request.oversubscribe = values.count("oversubscribe") != 0;
  request.prefix = values.count("no-prefix") == 0;
  return request;
}

// Names the launcher by its command.
[[noreturn]] void refuse_copies(int copies, const std::string& source) {
  const std::string launcher = source == "slurm"                          ? "srun"
                               : source == "openmpi" || source == "hydra" ? "mpirun"
                               : source == "explicit"                     ? "the outer hpcboot run"
                                                                          : source;
  throw Error(ErrorCode::inconsistent_placement,
              std::to_string(copies) + " copies of hpcboot run, started by " + launcher +
                  ": each would start every rank",
              "one copy, in a job script or on a command line",
              "drop " + launcher + ", or use hpcboot exec instead of hpcboot run");
}

// This process's own place. It needs none: HPCBOOT_METHODS may name only launchers that did not
// start it.
Resolution place_of_run(const Env& env, const Facts& facts) {
  const auto methods = env.text("HPCBOOT_METHODS");
  if (!methods) return resolve(env, facts);
  std::map<std::string, std::string> variables(env.variables().begin(), env.variables().end());
  variables["HPCBOOT_METHODS"] = std::string(*methods) + " single";
  return resolve(Env(std::move(variables)), facts);
}

// Refuses to run if this process is one of several that a launcher has started.
void require_one_copy(const Env& env, const Facts& facts) {
  try {
    const Resolution r = place_of_run(env, facts);
    if (r.launcher != "single" && r.placement.world_size > 1)
      refuse_copies(r.placement.world_size, r.launcher);
  } catch (const Error& error) {
    // Only an exchange could tell how many there are.
    if (error.code() != ErrorCode::needs_exchange) throw;
  }
}

// The host of rank 0, by the name under which the others reach it.
std::string host_of_rank0(const run::Plan& plan, const Env& env, const Facts& facts) {
  const Resolution r = place_of_run(env, facts);
  const auto named = r.provenance.find("master_addr");
  const bool is_of_job = named != r.provenance.end() && named->second.source == "allocation";
  const std::string& first = plan.layout.hosts.front().host;
  return is_of_job && r.master_addr && r.hosts.front() == first ? *r.master_addr : first;
}

run::RunEnd run_as_planned(const run::Plan& plan, const run::RunRequest& request, const Env& env,
                           const Facts& facts, const run::WalltimeClock* clock) {
  std::vector<std::string> hosts = {host_of_rank0(plan, env, facts)};
  // The launcher arguments may place rank 0 elsewhere.
  if (!request.launcher_args.empty()) {
    hosts.clear();
    for (const run::HostRanks& host : plan.layout.hosts) hosts.push_back(host.host);
  }
  const auto handover = rendezvous::fresh_handover(plan.layout.world_size(), std::move(hosts));
  const auto interface = choose_interface(env, facts);
  const std::string address =
      plan.layout.is_this_host_alone || !interface ? "127.0.0.1" : interface->address;
  return run::run_launcher({plan, handover, address, request.timeout, request.silence, clock},
                           err());
}

int run_verb(const Call& call) {
  const po::variables_map& values = call.values;
  if (!call.has_program)
    throw UsageError("the program comes after --: hpcboot run -- PROGRAM [ARGUMENT…]");
  if (call.program.empty()) throw UsageError("there is no program after --");
  if (values.count("program") != 0)
    throw UsageError("unexpected '" + values["program"].as<std::vector<std::string>>().front() +
                     "' before --");
  if (values.count("study") != 0) {
    return run_study(
        call, option_list(values, run_options(), {"study", "repeat", "ranks", "output-dir"}));
  }
  if (!values["repeat"].defaulted()) throw UsageError("--repeat needs --study");
  const Env env = Env::from_process();
  run::RunRequest request = request_of(env, values, call.program);
  if (values.count("submit") != 0) return submit_run(values, run_options(), call.program);
  require_no_submit_options(values);
  const run::Surroundings surroundings = run::Surroundings::of_this_process(env);
  require_one_copy(env, surroundings.facts);
  run::RunRequest planned = request;
  // Under an MPI launcher, a rank's parent cannot see whether this output is a terminal.
  planned.whole_lines = isatty(STDOUT_FILENO) == 0;
  planned.prefix = request.prefix && !planned.whole_lines;
  const run::Plan plan = run::make_plan(planned, surroundings);
  if (values.count("dry-run") != 0) {
    out() << terminal_lines(run::dry_run_text(plan));
    return 0;
  }
  for (const std::string& note : plan.notes) err() << "note: " << note << "\n";
  run::JobCourse course(request, surroundings, err());
  if (run::has_agents(plan.launcher)) {
    // The host of rank 0 is known once the agents are running.
    const auto handover = rendezvous::fresh_handover(plan.layout.world_size(), {"127.0.0.1"});
    run::AgentRun agents{plan, request, surroundings.self, handover.variables()};
    agents.clock = course.clock();
    return course.finish(run::run_agents(agents));
  }
  return course.finish(run_as_planned(plan, request, env, surroundings.facts, course.clock()));
}

}  // namespace

const Verb kRun{run_command, run_verb, true};

}  // namespace hpcboot::tool
