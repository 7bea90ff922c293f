#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/bounded_json.hpp"

namespace hpcboot::monitor {

/// What a rank, one of its devices and its host did between two looks at them. What is not known is
/// empty: there is no GPU, /proc does not tell, or no step has ended.
struct MonitorRow {
  double seconds = 0;  ///< since the start of the run, as totals.runtime_seconds counts them
  int epoch = 0;
  double epoch_seconds = 0;  ///< since the epoch began, with its validation
  std::int64_t step = 0;     ///< how many are done
  int rank = 0;
  std::string host;
  std::string device;  ///< "cpu", "cuda:0"

  std::optional<double> gpu_load_percent;  ///< of the time, in which a kernel ran
  std::optional<double> gpu_memory_bytes;  ///< in use, by all programs
  std::optional<double> gpu_temperature_celsius;
  std::optional<double> gpu_power_watts;
  std::optional<double> gpu_clock_mhz;  ///< of the multiprocessors
  std::optional<double> gpu_memory_clock_mhz;
  std::optional<double> cpu_load_percent;  ///< of all processors of the host, by all programs
  std::optional<double> rank_cpu_percent;  ///< of one processor, by this rank: 200 is two
  std::optional<double> resident_bytes;    ///< memory of this rank
  std::optional<double> network_received_bytes_per_second;  ///< of the host, without loopback
  std::optional<double> network_sent_bytes_per_second;
  std::optional<double> disk_read_bytes_per_second;  ///< of the host's own disks
  std::optional<double> disk_written_bytes_per_second;
  std::optional<double> step_seconds;  ///< mean
  std::optional<double> own_seconds;   ///< the same without the wait for other ranks
};

struct MonitorColumn {
  std::string_view name;
  std::optional<double> MonitorRow::*value;
};

/// The columns of measured values.
constexpr std::array<MonitorColumn, 15> kMonitorColumns{{
    {"gpu_load_percent", &MonitorRow::gpu_load_percent},
    {"gpu_memory_bytes", &MonitorRow::gpu_memory_bytes},
    {"gpu_temperature_celsius", &MonitorRow::gpu_temperature_celsius},
    {"gpu_power_watts", &MonitorRow::gpu_power_watts},
    {"gpu_clock_mhz", &MonitorRow::gpu_clock_mhz},
    {"gpu_memory_clock_mhz", &MonitorRow::gpu_memory_clock_mhz},
    {"cpu_load_percent", &MonitorRow::cpu_load_percent},
    {"rank_cpu_percent", &MonitorRow::rank_cpu_percent},
    {"resident_bytes", &MonitorRow::resident_bytes},
    {"network_received_bytes_per_second", &MonitorRow::network_received_bytes_per_second},
    {"network_sent_bytes_per_second", &MonitorRow::network_sent_bytes_per_second},
    {"disk_read_bytes_per_second", &MonitorRow::disk_read_bytes_per_second},
    {"disk_written_bytes_per_second", &MonitorRow::disk_written_bytes_per_second},
    {"step_seconds", &MonitorRow::step_seconds},
    {"own_seconds", &MonitorRow::own_seconds},
}};

/// The header of monitor.csv, and a row of it, each with its newline.
std::string monitor_header();
std::string monitor_line(const MonitorRow& row);

/// The steps that were done, according to a line; the largest number if it is none.
std::int64_t step_of_line(std::string_view line);

Json to_json(const MonitorRow& row);
/// @param from names the source in errors. @throws Error{malformed_file}
MonitorRow monitor_row_from_json(const Json& json, const std::string& from);

}  // namespace hpcboot::monitor
