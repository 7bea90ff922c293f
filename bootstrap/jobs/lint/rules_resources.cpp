#include <algorithm>

#include "core/counted.hpp"
#include "rules.hpp"

// Whether the numbers of nodes, ranks, GPUs and threads are consistent.
namespace hpcboot::lint {
namespace {

// The offset of the first option found that sets the number; 0 if there is none.
std::size_t place_of(const Script& script, Scheduler scheduler,
                     std::initializer_list<const char*> names) {
  for (const char* name : names) {
    for (const Directive& directive : script.directives) {
      if (!directive.is_read || directive.scheduler != scheduler) continue;
      for (const Option& option : directive.options) {
        if (option.name == name) return option.at;
      }
    }
  }
  return 0;
}

void add_ranks(Report& report, std::size_t at, int ranks, int gpus, const char* where) {
  const std::string found = counted(ranks, "rank") + " and " + counted(gpus, "GPU") + " " + where;
  if (ranks > gpus) {
    report.add(at, found, "several ranks share a GPU, its memory and its compute time",
               "request as many ranks as GPUs");
  } else {
    report.add(at, found, counted(gpus - ranks, "GPU") + " would be charged for but stay idle",
               "request as many ranks as GPUs");
  }
}

// An mpirun without its own number of ranks, or with that of the whole job: -np 8. Not if a
// variable may contain one: mpirun $OPTIONS ./a.
bool mpirun_as_asked(const LaunchCommand& launch, const JobRequest& job) {
  if (!launch.has_all_options || launch.has_several_programs()) return false;
  const auto& words = launch.command->words;
  for (std::size_t i = launch.first + 1; i < launch.program; ++i) {
    const std::string& text = words[i].text;
    if (text == "-n" || text == "-np" || text == "--np" || text == "-c") {
      const auto ranks = i + 1 < words.size() ? number_of(words[i + 1].text) : std::nullopt;
      if (!ranks || ranks != job.tasks) return false;
    }
    // A number per node.
    if (text == "-ppn" || text == "--ppn" || text == "-N" || text.rfind("--map-by", 0) == 0 ||
        text.rfind("-npernode", 0) == 0 || text.rfind("--npernode", 0) == 0) {
      return false;
    }
  }
  return true;
}

// Does a launcher without its own number of ranks take it from the directives?
bool launches_as_asked(const Subject& subject) {
  return std::any_of(
      subject.launches.begin(), subject.launches.end(), [&](const LaunchCommand& launch) {
        if (launch.launcher == Launcher::srun) {
          return launch.has_all_options &&
                 std::none_of(launch.options.begin(), launch.options.end(), [](const auto& option) {
                   return option.first == "ntasks" || option.first == "nodes" ||
                          option.first == "ntasks-per-node" || option.first.rfind("gpu", 0) == 0 ||
                          option.first == "gres" || option.first == "ntasks-per-gpu";
                 });
        }
        return mpirun_as_asked(launch, subject.job);
      });
}

}  // namespace

void check_tasks_and_nodes(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  if (subject.job.several_parts) return;
  const auto value = [&](const char* name) {
    return number_of(script.option(Scheduler::slurm, name).value_or(""));
  };
  const auto nodes = value("nodes");
  const auto tasks = value("ntasks");
  const auto each = value("ntasks-per-node");
  if (!nodes || !tasks || !each) return;
  const long long product = static_cast<long long>(*nodes) * *each;
  if (product == *tasks) return;
  report.add(place_of(script, Scheduler::slurm, {"ntasks"}),
             "--ntasks=" + std::to_string(*tasks) + ", but --nodes=" + std::to_string(*nodes) +
                 " with --ntasks-per-node=" + std::to_string(*each) + " gives " +
                 std::to_string(product),
             "with --ntasks, --ntasks-per-node is only a maximum, so nodes get uneven numbers of "
             "ranks, or the job is rejected",
             "remove --ntasks, or write --ntasks=" + std::to_string(product));
}

void check_ranks_and_gpus(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  const JobRequest& job = subject.job;
  if (!launches_as_asked(subject)) return;
  // One rank that drives several GPUs is fine: torchrun, or DP in one process.
  if (job.tasks_per_node && job.gpus_per_node && *job.tasks_per_node > 1 &&
      *job.gpus_per_node > 0 && *job.tasks_per_node != *job.gpus_per_node) {
    const std::size_t at = script.has_directives_of(Scheduler::slurm)
                               ? place_of(script, Scheduler::slurm, {"ntasks-per-node", "ntasks"})
                               : place_of(script, Scheduler::lsf, {"gpu"});
    add_ranks(report, at, *job.tasks_per_node, *job.gpus_per_node, "per node");
  }
  for (const PbsResource& resource : pbs_resources(script)) {
    if (resource.name != "select" && resource.name != "nodes") continue;
    const char* where = resource.name == "select" ? "per chunk" : "per node";
    for (const PbsChunk& chunk : parse_select(resource.value)) {
      const int ranks = chunk.mpiprocs.value_or(1);
      const int gpus = chunk.ngpus.value_or(0);
      if (ranks > 1 && gpus > 0 && ranks != gpus) {
        add_ranks(report, resource.at, ranks, gpus, where);
        break;
      }
    }
  }
}

void check_threads(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  if (subject.launches.empty() || !script.has_directives_of(Scheduler::pbs)) return;
  if (script.text.find("OMP_NUM_THREADS") != std::string_view::npos) return;
  for (const PbsResource& resource : pbs_resources(script)) {
    if (resource.name != "select") continue;
    for (const PbsChunk& chunk : parse_select(resource.value)) {
      const int ranks = chunk.mpiprocs.value_or(1);
      const int cores = chunk.ncpus.value_or(1);
      if (ranks < 2 || cores < 2 || chunk.ompthreads) continue;
      report.add(resource.at,
                 "OMP_NUM_THREADS is not set for " + std::to_string(ranks) + " ranks on " +
                     std::to_string(cores) + " cores",
                 "PBS sets it to ncpus, so every rank starts " + std::to_string(cores) + " threads",
                 "add :ompthreads=" + std::to_string(std::max(1, cores / ranks)) +
                     " after mpiprocs, or export OMP_NUM_THREADS=" +
                     std::to_string(std::max(1, cores / ranks)));
      return;
    }
  }
}

}  // namespace hpcboot::lint
