#include "loop/run_curves.hpp"

#include <fmt/format.h>

#include <chrono>

#include "hpcboot/error.hpp"
#if HPCBOOT_WITH_TENSORBOARD
#include "record/tensorboard.hpp"
#endif

namespace hpcboot::train {

#if HPCBOOT_WITH_TENSORBOARD
struct RunCurves::Events : record::TensorboardEvents {
  using TensorboardEvents::TensorboardEvents;
};
#else
struct RunCurves::Events {
  explicit Events(const std::filesystem::path&) {
    throw Error(ErrorCode::backend_unavailable, "--tensorboard, which this build does not support",
                "a build with protozero and Boost.CRC",
                "install libprotozero-dev and libboost-dev and build again, or use "
                "--no-tensorboard");
  }
  void add_config(const Json&, double) {}
  void add_end(bool) {}
  void add_scalar(const std::string&, std::int64_t, double) {}
  void add_restart(std::int64_t) {}
  void add(const record::StepMetrics&) {}
  void add(const record::EpochRecord&, std::int64_t) {}
  void flush() {}
};
#endif

RunCurves::RunCurves(const record::RunFolder& folder, bool tensorboard, const Json& config,
                     std::optional<std::int64_t> resumed_after)
    : metrics_(folder.metrics_csv(),
               resumed_after.value_or(std::numeric_limits<std::int64_t>::max())),
      last_step_(resumed_after.value_or(0)) {
  if (!tensorboard) return;
  events_ = std::make_unique<Events>(folder.path());
  if (resumed_after) events_->add_restart(*resumed_after + 1);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  events_->add_config(config, now.count());
}

RunCurves::~RunCurves() = default;

void RunCurves::add(const record::StepMetrics& row) {
  last_step_ = row.step;
  metrics_.append(row);
  if (events_) events_->add(row);
}

void RunCurves::add(const record::EpochRecord& epoch) {
  if (events_) events_->add(epoch, last_step_);
}

void RunCurves::add(const monitor::MonitorRow& row) {
  if (!events_) return;
  std::string start = fmt::format("monitor/rank_{}", row.rank);
  if (row.device != "cpu") start += "_cuda_" + row.device.substr(row.device.find(':') + 1);
  for (const monitor::MonitorColumn& column : monitor::kMonitorColumns) {
    const std::optional<double> value = row.*column.value;
    if (value) events_->add_scalar(fmt::format("{}/{}", start, column.name), row.step, *value);
  }
}

void RunCurves::complete() {
  if (events_) events_->add_end(true);
}

void RunCurves::flush() {
  metrics_.flush();
  if (events_) events_->flush();
}

}  // namespace hpcboot::train
