#include "monitor/sampler.hpp"

#include <algorithm>
#include <utility>

#include "gpu/cuda_driver.hpp"
#include "gpu/nvml.hpp"

namespace hpcboot::monitor {
namespace {

std::optional<double> rate(const std::optional<double>& last, const std::optional<double>& now,
                           double seconds) {
  if (!last || !now || seconds <= 0) return std::nullopt;
  return std::max(0.0, (*now - *last) / seconds);  // a counter may start again at 0
}

void add_gpu(MonitorRow& row, const GpuState& gpu) {
  row.gpu_load_percent = gpu.load_percent;
  row.gpu_memory_bytes = gpu.memory_bytes;
  row.gpu_temperature_celsius = gpu.temperature_celsius;
  row.gpu_power_watts = gpu.power_watts;
  row.gpu_clock_mhz = gpu.clock_mhz;
  row.gpu_memory_clock_mhz = gpu.memory_clock_mhz;
}

}  // namespace

void add_rates(MonitorRow& row, const HostCounters& last, const HostCounters& now, double seconds) {
  if (last.total_seconds && now.total_seconds) {
    const auto busy =
        rate(last.busy_seconds, now.busy_seconds, *now.total_seconds - *last.total_seconds);
    if (busy) row.cpu_load_percent = 100 * *busy;
  }
  if (const auto own = rate(last.own_seconds, now.own_seconds, seconds))
    row.rank_cpu_percent = 100 * *own;
  row.resident_bytes = now.resident_bytes;
  row.network_received_bytes_per_second = rate(last.received_bytes, now.received_bytes, seconds);
  row.network_sent_bytes_per_second = rate(last.sent_bytes, now.sent_bytes, seconds);
  row.disk_read_bytes_per_second = rate(last.read_bytes, now.read_bytes, seconds);
  row.disk_written_bytes_per_second = rate(last.written_bytes, now.written_bytes, seconds);
}

Sampler::Sampler(std::vector<int> cuda_devices)
    : cuda_devices_(std::move(cuda_devices)),
      last_(read_host_counters()),
      last_time_(Clock::now()) {
  if (cuda_devices_.empty()) return;
  std::vector<std::string> addresses;
  for (const int device : cuda_devices_)
    addresses.push_back(gpu::pci_address_of(device).value_or(""));
  try {
    sensors_ = std::make_unique<GpuSensors>(addresses);
  } catch (const gpu::Nvml::Unavailable& unavailable) {
    problem_ = unavailable.reason;
    return;
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (!sensors_->knows(i)) {
      problem_ = "NVML does not know cuda:" + std::to_string(cuda_devices_[i]) +
                 (addresses[i].empty() ? ", whose PCI address is unknown" : " at " + addresses[i]);
    }
  }
}

std::vector<MonitorRow> Sampler::sample() {
  const HostCounters now = read_host_counters();
  const auto time = Clock::now();
  MonitorRow host;
  add_rates(host, std::exchange(last_, now), now,
            std::chrono::duration<double>(time - std::exchange(last_time_, time)).count());
  host.device = "cpu";
  std::vector<MonitorRow> rows(std::max<std::size_t>(1, cuda_devices_.size()), host);
  const std::vector<GpuState> gpus = sensors_ ? sensors_->read() : std::vector<GpuState>();
  for (std::size_t i = 0; i < cuda_devices_.size(); ++i) {
    rows[i].device = "cuda:" + std::to_string(cuda_devices_[i]);
    if (i < gpus.size()) add_gpu(rows[i], gpus[i]);
  }
  return rows;
}

}  // namespace hpcboot::monitor
