#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "jobs/run/agents/agents.hpp"
#include "jobs/run/job/job_course.hpp"
#include "jobs/run/launcher/launcher_run.hpp"
#include "options.hpp"
#include "rendezvous/store/fresh_handover.hpp"
#include "run_submit.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;

constexpr const char* kSynopsis =
    "Usage: hpcboot run [OPTIONS] -- PROGRAM [ARGUMENT…]\n\n"
    "Starts PROGRAM once for each rank, by the same line everywhere:\n\n"
    "  hpcboot run -- python3 train.py                 on this machine: a rank for each GPU\n"
    "  hpcboot run --ranks-per-node 4 -- ./program     on this machine: 4 ranks\n"
    "  hpcboot run --hostfile hosts.txt -- ./program   on lab machines: mpirun, else ssh\n"
    "  sbatch -N2 --ntasks-per-node=4 --wrap 'hpcboot run -- python3 train.py'\n"
    "  hpcboot run --dry-run -- ./program              what would be started, and how\n"
    "  hpcboot run --submit --nodes 2 -- ./program     as a job; then: hpcboot jobs\n\n"
    "Inside an allocation of Slurm, PBS, Torque, Grid Engine, LSF or Flux the ranks are started "
    "on\n"
    "its hosts, as many as were granted, through the launcher that belongs there. PROGRAM may be\n"
    "any program: of torch.distributed, of MPI, or the trainer. It finds RANK, WORLD_SIZE,\n"
    "LOCAL_RANK, MASTER_ADDR, MASTER_PORT and their like in its environment.\n\n"
    "If a rank fails, the others are ended, and the first that failed is named last. Ctrl-C, "
    "SIGTERM\n"
    "and SIGHUP reach every rank once, and kill it after 30 s; a second signal kills at once. "
    "SIGUSR1\n"
    "and SIGUSR2 reach every rank unchanged. Standard input is rank 0's.\n\n"
    "With --requeue a training may take longer than its job: SIGUSR1 tells every rank 120 s "
    "before\n"
    "the walltime is over, and if PROGRAM then ends with exit code 46 the job is queued again.\n\n"
    "With --silence a run that hangs ends: if no rank at all has written anything for so long, "
    "the\n"
    "stacks of all ranks are shown, by gdb, eu-stack or py-spy, and the run ends with exit code "
    "32.\n\n"
    "Exit code: 0 if every rank ended with 0, else that of the rank that failed first (128 + n "
    "after\n"
    "signal n); 2 usage; 20 and up if nothing was started, by kind of error.\n";

po::options_description run_options() {
  po::options_description options("Options");
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  const auto number = [](const char* name) { return po::value<int>()->value_name(name); };
  options.add_options()("ranks,n", number("N"), "ranks in all [as many as were granted]")(
      "nodes", number("N"), "use the first N hosts [all]")(
      "ranks-per-node", text("N|gpu|numa|core"),
      "ranks on each host: a number, or one for each GPU, NUMA node or core")(
      "hostfile", text("F"), "hosts and slots, as mpirun reads them")(
      "launcher", text("L"),
      "srun, mpirun, pals, flux, jsrun, ssh, qrsh, blaunch or local [what belongs here]")(
      "launcher-args", text("ARGS"), "more options for the launcher; words parted by spaces")(
      "torchrun", "one torchrun on each host starts the ranks there")(
      "gpu-bind", po::value<std::string>()->default_value("none")->value_name("auto|none"),
      "auto: each rank sees its own device only, as device 0")(
      "env", po::value<std::vector<std::string>>()->value_name("NAME[=VALUE]"),
      "hand this variable to every rank; may be repeated")("chdir", text("DIR"),
                                                           "the ranks' working folder [this one]")(
      "output-dir", text("DIR"),
      "also write the output of each rank to DIR/rank_NNNN.out and .err")(
      "stage", text("PATH"),
      "copy PATH to each host's own disk first; {staged} in ARGUMENTs is the copy")(
      "no-prefix", "no [rank host] before each line on a terminal")(
      "oversubscribe", "allow more ranks than were granted")(
      "warn", number("SECONDS"),
      "SIGUSR1 to every rank so long before the walltime ends [with --requeue 120]")(
      "requeue",
      "queue the job again if PROGRAM ends with 46, stopped in order, or a host is lost")(
      "retries", po::value<int>()->default_value(3)->value_name("N"),
      "no more attempts in a row than that without progress")(
      "timeout", po::value<int>()->default_value(60)->value_name("SECONDS"),
      "how long the ranks may take to come together")(
      "silence", number("SECONDS"),
      "end the run if no rank has written anything for so long, after the stacks of all ranks")(
      "dry-run", "print the plan, and start nothing");
  return options;
}

std::optional<std::string> text_of(const po::variables_map& values, const char* name) {
  if (values.count(name) == 0) return std::nullopt;
  return values[name].as<std::string>();
}

std::optional<int> count_of(const po::variables_map& values, const char* name) {
  if (values.count(name) == 0) return std::nullopt;
  const int number = values[name].as<int>();
  if (number < 1) throw UsageError("--" + std::string(name) + " is a number from 1");
  return number;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// As every host understands it, wherever the ranks work.
std::string whole_path(const std::string& text) {
  std::error_code reason;
  namespace fs = std::filesystem;
  fs::path whole = fs::absolute(text, reason);
  // Behind a link ".." is above what it leads to. Any other path is kept as all hosts have it.
  if (!reason && std::find(whole.begin(), whole.end(), "..") != whole.end())
    whole = fs::weakly_canonical(whole, reason);
  std::string path = whole.lexically_normal().string();
  while (!path.empty() && path.back() == '/') path.pop_back();
  if (!reason && !path.empty()) return path;
  throw Error(ErrorCode::malformed_value, "--stage '" + text + "'",
              "the path of a file or a folder that all hosts see", "correct the path");
}

run::RunRequest request_of(const po::variables_map& values, std::vector<std::string> command) {
  run::RunRequest request;
  request.command = std::move(command);
  request.ranks = count_of(values, "ranks");
  request.nodes = count_of(values, "nodes");
  request.timeout = std::chrono::seconds(*count_of(values, "timeout"));
  if (const auto silence = count_of(values, "silence"))
    request.silence = std::chrono::seconds(*silence);
  request.ranks_per_node = text_of(values, "ranks-per-node");
  request.hostfile = text_of(values, "hostfile");
  request.launcher = text_of(values, "launcher");
  request.launcher_args = words_of(text_of(values, "launcher-args").value_or(""));
  request.chdir = text_of(values, "chdir");
  request.output_dir = text_of(values, "output-dir");
  if (const auto path = text_of(values, "stage")) request.stage = whole_path(*path);
  if (values.count("env") != 0) request.env = values["env"].as<std::vector<std::string>>();
  const auto& gpu_bind = values["gpu-bind"].as<std::string>();
  if (gpu_bind != "auto" && gpu_bind != "none") throw UsageError("--gpu-bind is auto or none");
  request.gpu_bind = gpu_bind == "auto";
  if (const auto warn = count_of(values, "warn")) request.warn = std::chrono::seconds(*warn);
  request.requeue = values.count("requeue") != 0;
  request.retries = values["retries"].as<int>();
  if (request.retries < 0) throw UsageError("--retries is a number from 0");
  request.torchrun = values.count("torchrun") != 0;
  request.oversubscribe = values.count("oversubscribe") != 0;
  request.prefix = values.count("no-prefix") == 0;
  return request;
}

// By the name of its command.
[[noreturn]] void refuse_copies(int copies, const std::string& source) {
  const std::string launcher = source == "slurm"                          ? "srun"
                               : source == "openmpi" || source == "hydra" ? "mpirun"
                               : source == "explicit"                     ? "the outer hpcboot run"
                                                                          : source;
  throw Error(ErrorCode::inconsistent_placement,
              std::to_string(copies) + " copies of hpcboot run, started by " + launcher +
                  ": each would start every rank",
              "one copy, in a job script or on a command line",
              "drop " + launcher + ", or write hpcboot exec in place of hpcboot run");
}

// This process is one of several that a launcher has started.
void require_one_copy(const Env& env, const Facts& facts) {
  try {
    const Resolution r = resolve(env, facts);
    if (r.launcher != "single" && r.placement.world_size > 1)
      refuse_copies(r.placement.world_size, r.launcher);
  } catch (const Error& error) {
    // Only an exchange could tell how many.
    if (error.code() != ErrorCode::needs_exchange) throw;
  }
}

// Where rank 0 is, as the others reach it.
std::string host_of_rank0(const run::Plan& plan, const Env& env, const Facts& facts) {
  const Resolution r = resolve(env, facts);
  const auto named = r.provenance.find("master_addr");
  const bool is_of_job = named != r.provenance.end() && named->second.source == "allocation";
  const std::string& first = plan.layout.hosts.front().host;
  return is_of_job && r.master_addr && r.hosts.front() == first ? *r.master_addr : first;
}

run::RunEnd run_as_planned(const run::Plan& plan, const run::RunRequest& request, const Env& env,
                           const Facts& facts, const run::WalltimeClock* clock) {
  std::vector<std::string> hosts = {host_of_rank0(plan, env, facts)};
  // These may place rank 0 elsewhere.
  if (!request.launcher_args.empty()) {
    hosts.clear();
    for (const run::HostRanks& host : plan.layout.hosts) hosts.push_back(host.host);
  }
  const auto handover = rendezvous::fresh_handover(plan.layout.world_size(), std::move(hosts));
  const auto interface = choose_interface(env, facts);
  const std::string address =
      plan.layout.is_this_host_alone || !interface ? "127.0.0.1" : interface->address;
  return run::run_launcher({plan, handover, address, request.silence, clock}, err());
}

int run_verb(const Arguments& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  po::options_description options = run_options();
  options.add(submit_options());
  const auto values = parse(Arguments(arguments.begin(), dashes), kSynopsis, options);
  if (!values) return 0;
  if (dashes == arguments.end())
    throw UsageError("the program stands behind --: hpcboot run -- PROGRAM [ARGUMENT…]");
  const std::vector<std::string> command(dashes + 1, arguments.end());
  if (command.empty()) throw UsageError("there is no program behind --");
  run::RunRequest request = request_of(*values, command);
  if (values->count("submit") != 0) return submit_run(*values, options, command);
  require_no_submit_options(*values);
  const Env env = Env::from_process();
  const run::Surroundings surroundings = run::Surroundings::of_this_process(env);
  require_one_copy(env, surroundings.facts);
  run::RunRequest planned = request;
  // Behind an MPI launcher a rank's parent cannot see what is a terminal here.
  planned.prefix = request.prefix && isatty(STDOUT_FILENO) != 0;
  const run::Plan plan = run::make_plan(planned, surroundings);
  if (values->count("dry-run") != 0) {
    out() << terminal_lines(run::dry_run_text(plan));
    return 0;
  }
  for (const std::string& note : plan.notes) err() << "note: " << note << "\n";
  run::JobCourse course(request, surroundings, err());
  if (run::has_agents(plan.launcher)) {
    // Once the agents are there the host is known that rank 0 is on.
    const auto handover = rendezvous::fresh_handover(plan.layout.world_size(), {"127.0.0.1"});
    run::AgentRun agents{plan, request, surroundings.self, handover.variables()};
    agents.clock = course.clock();
    return course.finish(run::run_agents(agents));
  }
  return course.finish(run_as_planned(plan, request, env, surroundings.facts, course.clock()));
}

}  // namespace

const Verb kRun{"run", "start a program's ranks: here, over hosts, or in a job", run_verb, true};

}  // namespace hpcboot::tool
