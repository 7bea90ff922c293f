#include "loop/run_training.hpp"

#include <fmt/format.h>
#include <torch/utils.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <thread>

#include "datasets/formats.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/torch/precision.hpp"
#include "loop/devices.hpp"
#include "loop/epoch_trainer.hpp"
#include "loop/keep_memory.hpp"
#include "loop/memory_failure.hpp"
#include "loop/model_file.hpp"
#include "loop/run_curves.hpp"
#include "loop/run_report.hpp"
#include "loop/threads.hpp"
#include "loop/validation.hpp"

namespace hpcboot::train {
namespace {

volatile std::sig_atomic_t caught_signal = 0;

void on_signal(int number) {
  caught_signal = number;
}

struct Signalled {
  int number;
};

void stop_if_signalled() {
  if (caught_signal != 0) throw Signalled{caught_signal};
}

const char* name_of_signal(int number) {
  switch (number) {
    case SIGTERM:
      return "TERM";
    case SIGINT:
      return "INT";
    case SIGUSR1:
      return "USR1";
    default:
      return "USR2";
  }
}

std::string resolved_mode(const TrainOptions& options, const Resolution& me) {
  const int ranks = me.placement.world_size;
  if (options.mode == "auto") return ranks > 1 ? "ddp" : "single";
  if (options.mode == "single" && ranks > 1) {
    throw UsageError(
        fmt::format("--mode single, but {} started {} ranks; use --mode ddp, or start one process",
                    me.launcher, ranks));
  }
  if (options.mode == "dp" && ranks > 1) {
    throw UsageError(
        fmt::format("--mode dp trains in one process, but {} started {} ranks; start one process, "
                    "or use --mode ddp",
                    me.launcher, ranks));
  }
  return options.mode;
}

int threads_of(const TrainOptions& options, const Resolution& me,
               const std::vector<torch::Device>& devices) {
  if (options.threads > 0) return options.threads;
  const int of_rank = threads_per_rank(cores_of_this_process(),
                                       static_cast<int>(std::thread::hardware_concurrency()),
                                       me.placement.local_size);
  // Replicas on the CPU compute at the same time, each with its own threads.
  const int replicas = devices.front().is_cpu() ? static_cast<int>(devices.size()) : 1;
  return std::max(1, of_rank / replicas);
}

void require_precision(const TrainOptions& options, const std::string& mode, torch::Device device) {
  // Autocast's type belongs to a thread, and replicas compute in threads of their own.
  if (mode == "dp" && device.is_cuda() && options.precision == "bf16") {
    throw UsageError(
        "--precision bf16 and --mode dp do not go together on CUDA devices; use --mode ddp");
  }
  use_precision(precision_of(options.precision), device);
}

void train(const TrainOptions& options, const RunFacts& known,
           const std::vector<torch::Device>& devices, Team& team, RunReport& report) {
  RunFacts facts = known;
  torch::set_num_threads(facts.threads);
  keep_freed_memory();
  const auto train_set =
      data::open_dataset(options.data, data::Split::train, options.limit_samples);
  const auto test_set = data::open_dataset(options.data, data::Split::test, options.limit_samples);
  data::check_halves(*train_set, *test_set, options.data);
  facts.train_samples = training_samples(*train_set, options);
  facts.validation_samples = test_set->count();
  report.start(facts);

  torch::manual_seed(options.seed);
  ParallelModel model(options, train_set->shape().channels, facts.mode, devices, team);
  EpochTrainer trainer(model, *train_set, options, facts.batches, team.size() * facts.devices,
                       team);
  std::optional<RunCurves> curves;
  if (team.is_first()) curves.emplace(report.folder(), options.tensorboard, report.config());
  ProgressBar bar(team.is_first());
  report.started_up();
  const auto after_step = [&] {
    report.stepped();
    stop_if_signalled();
  };
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    record::EpochRecord done = trainer.run(epoch, curves ? &*curves : nullptr, bar, after_step);
    const Validation validation =
        validate(model, *test_set, facts.batches.local, options.image_size, team);
    done.validation_loss = validation.loss;
    done.validation_accuracy = validation.accuracy;
    done.validation_seconds = validation.seconds;
    if (curves) curves->add(done);
    report.add_epoch(done);
  }
  if (team.is_first()) {
    curves->flush();
    write_model(model.model(), report.folder().model());
  }
  team.finish();
  report.finish(std::string(record::kFinished));
}

}  // namespace

int run_training(const TrainOptions& options, const Env& env) {
  const auto begin = std::chrono::steady_clock::now();
  const Resolution me = resolve(env, Facts::of_this_process(env));
  RunFacts facts;
  facts.mode = resolved_mode(options, me);
  const std::vector<torch::Device> devices = devices_of(options, facts.mode, me);
  facts.batches = plan_batches(options.batches, me.placement.world_size, devices.size());
  facts.threads = threads_of(options, me, devices);
  facts.device = name_of(devices);
  require_precision(options, facts.mode, devices.front());
  facts.devices = static_cast<int>(devices.size());

  std::optional<ProcessGroup> group;
  if (facts.mode == "ddp") {
    facts.backend = backend_of(options, devices.front(), has_nccl());
    ProcessGroupOptions how;
    how.backend = facts.backend;
    how.start_up_deadline = options.start_up_timeout;
    how.collective_timeout = options.collective_timeout;
    group.emplace(make_process_group(me, env, how));
  }
  Team team(me, std::move(group));
  RunReport report(team, options, env, begin);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) std::signal(number, on_signal);
  int code = 1;
  try {
    with_memory(facts.batches, [&] { train(options, facts, devices, team, report); });
    return 0;
  } catch (const Signalled& signal) {
    const std::string reason = std::string("signal ") + name_of_signal(signal.number);
    report.fail(reason, "  ended by " + reason + "\n");
    code = 128 + signal.number;
  } catch (const UsageError& error) {
    report.fail(std::string("error: ") + error.what(), std::string("  ") + error.what() + "\n");
    code = 2;
  } catch (const Error& error) {
    report.fail("error: " + error.found(),
                format_error("trainer", error) + report.silent_ranks(error.code()));
    code = error.exit_code();
  } catch (const std::exception& error) {
    report.fail(std::string("error: ") + error.what(), std::string("  ") + error.what() + "\n");
  }
  std::fflush(nullptr);
  // Not exit(): destructors of the process group would wait for peers that are gone.
  _exit(code);
}

}  // namespace hpcboot::train
