#include "loop/run_training.hpp"

#include <c10/core/DeviceGuard.h>
#include <fmt/format.h>
#include <torch/utils.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>

#include "core/counted.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/torch/precision.hpp"
#include "loop/background_writer.hpp"
#include "loop/blas_memory.hpp"
#include "loop/checkpointer.hpp"
#include "loop/determinism.hpp"
#include "loop/devices.hpp"
#include "loop/epoch_trainer.hpp"
#include "loop/error_words.hpp"
#include "loop/finite_checkpoint.hpp"
#include "loop/fitting_options.hpp"
#include "loop/keep_memory.hpp"
#include "loop/lr_schedule.hpp"
#include "loop/memory_failure.hpp"
#include "loop/model_file.hpp"
#include "loop/optimizer.hpp"
#include "loop/process_start.hpp"
#include "loop/run_identity.hpp"
#include "loop/run_observers.hpp"
#include "loop/run_report.hpp"
#include "loop/same_run.hpp"
#include "loop/shared_resume.hpp"
#include "loop/stop_request.hpp"
#include "loop/threads.hpp"
#include "loop/validation.hpp"
#include "tasks/task.hpp"
#include "tasks/task_names.hpp"
#include "text/terminal.hpp"

namespace hpcboot::train {
namespace {

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

int threads_of(const TrainOptions& options, const Resolution& me, const Env& env,
               const std::vector<torch::Device>& devices) {
  if (options.threads > 0) return options.threads;
  const int of_rank = default_threads(env, me.placement.local_size);
  // Replicas on the CPU compute at the same time, each with its own threads.
  const int replicas = devices.front().is_cpu() ? static_cast<int>(devices.size()) : 1;
  return std::max(1, of_rank / replicas);
}

/// Trains epoch by epoch, to the end or until a stop is requested.
/// @param memory whose phase is set
void train_epochs(const TrainOptions& options, const tasks::Task& task, MemoryUse& memory,
                  ParallelModel& model, EpochTrainer& trainer, Checkpointer& checkpointer,
                  RunObservers& observers, Communicator& communicator, RunReport& report) {
  ProgressBar bar(communicator.is_first());
  const auto stepped = [&](const record::StepMetrics& step) {
    for (const std::string& note : observers.stepped(step)) {
      bar.clear();
      report.note(note);
    }
  };
  const auto after_step = [&](double seconds, bool last) {
    if (!report.has_stepped()) {
      bar.clear();
      report.stepped();
    }
    return checkpointer.after_step(seconds, last);
  };
  const auto save = [&] {
    observers.flush();
    checkpointer.save();
  };
  while (trainer.state().epoch <= options.epochs) {
    observers.begin_epoch(trainer.state().epoch);
    memory.phase = "a training step";
    auto done =
        trainer.run({observers.curves(), observers.profiler(), bar, stepped, after_step, save});
    if (!done) return;
    // The run may be saved and stopped during validation.
    observers.flush();
    memory.phase = "the validation";
    const auto validation =
        validate(model, task, memory.batches.micro, options.loader_threads, communicator,
                 [&](double seconds) { return checkpointer.interrupts_validation(seconds); });
    if (!validation) return;
    done->validation_loss = validation->loss;
    done->measures = validation->measures;
    done->validation_seconds = validation->seconds;
    observers.add(*done);
    report.add_epoch(*done);
    if (!std::isfinite(validation->loss)) {
      throw Error(
          ErrorCode::diverged,
          fmt::format("the validation loss is {} after step {} of the run, epoch {}",
                      validation->loss, trainer.state().step, done->epoch),
          "a finite number",
          "lower --lr, clip the gradients with --clip-grad-norm 1, use --precision fp32 or bf16 "
          "instead of fp16, or check the test split for values that are NaN or infinite");
    }
    trainer.end_epoch();
    checkpointer.end_epoch(
        validation_of(done->epoch, validation->measures.front().value, validation->loss));
  }
}

/// Refuses a warm-up longer than the run, before there is a run folder.
void require_schedule(const TrainOptions& options, std::int64_t steps_per_epoch) {
  constexpr int kAnyDevices = 1;
  static_cast<void>(LrSchedule(options.optimization, steps_per_epoch, options.epochs, kAnyDevices));
}

/// Rank 0 writes a file; the others wait, however long its disk takes.
void write_on_first(Communicator& communicator, const std::function<void()>& write) {
  BackgroundWriter writer;
  if (communicator.is_first()) writer.start(write);
  communicator.wait_until_all(
      [&](std::chrono::milliseconds limit) { return writer.finish(limit); });
}

/// @param memory whose phase is set
/// @return why the run stopped before its end; empty if it did not
std::string train(const TrainOptions& options, const RunFacts& known,
                  const std::vector<torch::Device>& devices, Communicator& communicator,
                  RunReport& report, MemoryUse& memory) {
  RunFacts facts = known;
  // Otherwise LibTorch would switch from device 0 to this one and back around every operation.
  const c10::DeviceGuard current(devices.front());
  torch::set_num_threads(facts.threads);
  keep_freed_memory();
  const std::unique_ptr<tasks::Task> task = tasks::make_task(options, devices.front());
  const Json identity = run_identity(options, facts.batches, *task);
  require_same_run(options, identity, communicator);
  facts.train_samples = training_samples(*task, options);
  facts.validation_samples = task->validation_samples().count();
  facts.sample = task->train_samples().kind();
  const std::int64_t own_pass = smallest_pass(samples_of_rank(facts.train_samples, communicator),
                                              facts.batches, devices.size());
  require_batch_norm_to_fit(options, options.sync_bn ? own_pass * communicator.size() : own_pass);
  require_schedule(options, steps_of_an_epoch(facts.train_samples, facts.batches, communicator));
  const auto shapes = [&] {
    const auto model = task->make_model();
    return training_shapes(*model, *make_optimizer(model->parameters(), options.optimization));
  };
  const Configuration own{identity, shapes};
  SharedResume resumed = resume_together(options, own, report.holder(), communicator);
  report.start(facts, identity, resumed.point ? &*resumed.point : nullptr);
  if (const std::string found = task->warning(); !found.empty()) report.note("warning: " + found);
  for (const std::string& note : resumed.notes) report.note(note);
  if (const std::string note = unused_options(options, facts.mode); !note.empty())
    report.note(note);

  if (devices.front().is_cpu()) take_blas_memory(facts.threads * facts.devices);
  torch::manual_seed(options.seed);
  ParallelModel model(options, *task, facts.mode, devices, communicator);
  const int all_devices =
      resumed.state ? resumed.state->devices : communicator.size() * facts.devices;
  EpochTrainer trainer(model, *task, options, facts.batches, all_devices, communicator);
  std::optional<ResumedAt> resumed_at;
  if (resumed.state) {
    if (resumed.is_sharded) {
      trainer.load_state(*resumed.state, std::filesystem::path(resumed.file));
    } else {
      trainer.load_state(*resumed.state, resumed.tensors, resumed.file);
    }
    resumed.tensors.clear();
    resumed_at = ResumedAt{resumed.state->step, resumed.state->runtime_seconds};
    report.note(fmt::format("resumed from {}: epoch {}, after step {}", resumed.file,
                            resumed.state->epoch, resumed.state->step));
    if (resumed.point && resumed.point->steps_again.value_or(0) > 0) {
      report.note(fmt::format("at least {} of the previous start {} lost and will be repeated",
                              counted(*resumed.point->steps_again, "step"),
                              *resumed.point->steps_again == 1 ? "is" : "are"));
    }
  }
  RunObservers observers(options, facts, devices, resumed_at, communicator, report);
  Checkpointer checkpointer(options, report.folder(), identity, trainer, communicator,
                            report.begin(), resumed_at ? resumed_at->runtime_seconds : 0);
  report.started_up();
  try {
    train_epochs(options, *task, memory, model, trainer, checkpointer, observers, communicator,
                 report);
  } catch (const Error& error) {
    // All ranks see it together. One of them reports it.
    if (error.code() != ErrorCode::diverged) throw;
    checkpointer.finish();
    if (!communicator.is_first()) throw;
    throw with_finite_checkpoint(error, report.folder().checkpoints());
  }
  memory.phase = "the end of the run";
  for (const std::string& note : observers.finish()) report.note(note);
  report.trained();
  checkpointer.finish();
  report.set_checkpoint_seconds(checkpointer.waited_seconds());
  const std::string& stopped = checkpointer.stop_reason();
  if (stopped.empty()) {
    const auto whole = model.keep_whole();
    write_on_first(communicator,
                   [&] { write_model(model.model(), task->metadata(), report.folder().model()); });
    if (observers.curves() != nullptr) observers.curves()->complete();
    communicator.finish();
    report.finish(std::string(record::kFinished));
    return {};
  }
  report.note(fmt::format("stopped ({}) after step {}, saved as {}; to continue: --resume {}",
                          stopped, trainer.state().step, checkpointer.newest().filename().string(),
                          report.folder().path().string()));
  report.finish(stopped);
  // A launcher may end the other ranks once the first has ended with an exit code; by now
  // everything is on disk.
  communicator.finish();
  return stopped;
}

}  // namespace

int run_training(const TrainOptions& options, const Env& env) {
  const auto begin = start_of_this_process();
  const auto main_begun = std::chrono::steady_clock::now();
  const Facts here = Facts::of_this_process(env);
  const Resolution me = resolve(env, here);
  const std::chrono::duration<double> launch = main_begun - start_of_launch(env, here, me);
  RunFacts facts;
  facts.mode = resolved_mode(options, me);
  const std::vector<torch::Device> devices = devices_of(options, facts.mode, me);
  facts.batches = plan_batches(options.batches, me.placement.world_size, devices.size());
  require_fitting_options(options, facts.mode, facts.batches, devices.front());
  facts.threads = threads_of(options, me, env, devices);
  facts.device = name_of(devices);
  facts.device_name = gpu_name_of(devices.front());
  use_precision(precision_of(options.precision), devices.front());
  if (options.deterministic) use_deterministic_algorithms(devices.front(), env);
  facts.devices = static_cast<int>(devices.size());

  const std::string backend = backend_of(options, devices.front(), has_nccl());
  std::optional<ProcessGroup> group;
  if (facts.mode == "ddp") {
    facts.backend = backend;
    ProcessGroupOptions how;
    how.backend = facts.backend;
    how.store = options.store == "tcp" ? StoreKind::tcp : StoreKind::own;
    how.start_up_deadline = options.start_up_timeout;
    how.collective_timeout = options.collective_timeout;
    const RanksMeet meeting;
    group.emplace(make_process_group(me, env, how));
  }
  Communicator communicator(me, std::move(group));
  RunReport report(communicator, options, env, begin, launch.count());
  int code = 1;
  try {
    std::string stopped;
    MemoryUse memory{facts.batches, tasks::known_task(options.task).sample, options.cuda_graph,
                     "the start of the run", has_batch_norms(options)};
    with_memory(memory,
                [&] { stopped = train(options, facts, devices, communicator, report, memory); });
    if (stopped.empty()) return 0;
    code = static_cast<int>(ErrorCode::stopped);
  } catch (const UsageError& error) {
    report.fail(std::string("error: ") + error.what(), "  " + terminal_text(error.what()) + "\n");
    code = 2;
  } catch (const Error& error) {
    const Encoded text = Encoded::as_is(format_error("trainer", error));
    if (error.code() == ErrorCode::diverged) {
      report.fail_together("error: " + error.found(), text);
    } else {
      report.fail("error: " + error.found(), text + report.silent_ranks(error.code()));
    }
    code = error.exit_code();
  } catch (const std::exception& error) {
    const std::string words = error_words(error);
    report.fail("error: " + words, "  " + terminal_lines(words));
  }
  std::fflush(nullptr);
  // Not exit(): the process group's destructors would wait for peers that are gone.
  _exit(code);
}

}  // namespace hpcboot::train
