#include "loop/run_observers.hpp"

#include <utility>

#include "hpcboot/facts.hpp"
#include "profile/profile_schedule.hpp"

namespace hpcboot::train {
namespace {

constexpr double kIntervalOnGpus = 5;  // seconds

ProfilerOptions profiler_options(const TrainOptions& options, const RunFacts& facts,
                                 const RunReport& report) {
  constexpr std::int64_t kMega = 1'000'000;
  ProfilerOptions result;
  result.schedule = profile::parse_profile_schedule(options.profile);
  result.most_bytes = options.profile_mb * kMega;
  result.folder = report.folder().profile();
  result.host = own_hostname();
  result.backend = facts.backend;
  return result;
}

}  // namespace

RunObservers::RunObservers(const TrainOptions& options, const RunFacts& facts,
                           const std::vector<torch::Device>& devices,
                           const std::optional<ResumedAt>& resumed, Communicator& communicator,
                           RunReport& report) {
  if (communicator.is_first()) {
    std::optional<std::int64_t> resumed_after;
    if (resumed) resumed_after = resumed->step;
    curves_.emplace(report.folder(), options.tensorboard, report.config(), resumed_after);
  }
  if (!options.profile.empty()) {
    profiler_.emplace(profiler_options(options, facts, report), devices.front(), communicator,
                      [&report](const Encoded& lines) { report.show(lines); });
  }
  const bool has_gpus = devices.front().is_cuda();
  const double interval = options.monitor.value_or(has_gpus ? kIntervalOnGpus : 0);
  if (interval == 0) return;
  MonitorOptions how;
  how.interval = std::chrono::duration<double>(interval);
  how.file = report.folder().monitor_csv();
  how.host = own_hostname();
  for (const torch::Device& device : devices) {
    if (device.is_cuda()) how.cuda_devices.push_back(device.index());
  }
  if (resumed) {
    how.seconds_before = resumed->runtime_seconds;
    how.steps_before = resumed->step;
  }
  monitor_.emplace(std::move(how), communicator, report.begin());
  for (const std::string& problem : monitor_->problems())
    report.note("the monitor lacks GPUs of " + problem);
}

std::vector<std::string> RunObservers::pass_on(RunMonitor::News news) {
  if (curves_) {
    for (const monitor::MonitorRow& row : news.rows) curves_->add(row);
  }
  return std::move(news.notes);
}

void RunObservers::begin_epoch(int epoch) {
  if (monitor_) monitor_->begin_epoch(epoch);
}

std::vector<std::string> RunObservers::stepped(const record::StepMetrics& step) {
  if (!monitor_) return {};
  monitor_->stepped(step.step, step.step_seconds, step.communication_seconds);
  return pass_on(monitor_->news());
}

void RunObservers::flush() {
  if (curves_) curves_->flush();
}

void RunObservers::add(const record::EpochRecord& epoch) {
  if (!curves_) return;
  curves_->add(epoch);
  curves_->flush();
}

std::vector<std::string> RunObservers::finish() {
  if (profiler_) profiler_->finish();
  std::vector<std::string> notes;
  if (monitor_) notes = pass_on(monitor_->finish());
  monitor_.reset();
  flush();
  return notes;
}

}  // namespace hpcboot::train
