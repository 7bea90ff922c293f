#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/gpu_sensors.hpp"
#include "monitor/host_counters.hpp"
#include "monitor/monitor_row.hpp"

namespace hpcboot::monitor {

/// Fills in what `last` and `now` say of the time between them.
/// @param seconds between them; above 0
void add_rates(MonitorRow& row, const HostCounters& last, const HostCounters& now, double seconds);

/// Looks at the host, this process and its GPUs.
class Sampler {
 public:
  /// @param cuda_devices of this process; empty: it computes on the CPU
  explicit Sampler(std::vector<int> cuda_devices);

  /// A row for each GPU, or one without any, of the time since the last call, or since this object
  /// was made. Fields that describe the run are empty.
  std::vector<MonitorRow> sample();

  /// Why a GPU is not watched; empty if all are, or if there are none.
  const std::string& problem() const { return problem_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<int> cuda_devices_;
  std::unique_ptr<GpuSensors> sensors_;
  std::string problem_;
  HostCounters last_;
  Clock::time_point last_time_;
};

}  // namespace hpcboot::monitor
