#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot::monitor {

/// What NVIDIA's management library reports of a GPU; what it does not is empty.
struct GpuState {
  std::optional<double> load_percent;
  std::optional<double> memory_bytes;  ///< in use, by all programs
  std::optional<double> temperature_celsius;
  std::optional<double> power_watts;
  std::optional<double> clock_mhz;  ///< of the multiprocessors
  std::optional<double> memory_clock_mhz;
};

/// The sensors of GPUs, which NVIDIA's management library reads.
class GpuSensors {
 public:
  /// @param pci_addresses of the GPUs, "0000:65:00.0"
  /// @throws gpu::Nvml::Unavailable
  explicit GpuSensors(const std::vector<std::string>& pci_addresses);
  ~GpuSensors();
  GpuSensors(const GpuSensors&) = delete;
  GpuSensors& operator=(const GpuSensors&) = delete;

  /// Whether NVML knows the GPU of this index.
  bool knows(std::size_t index) const { return devices_[index] != nullptr; }
  /// One state for each GPU, in their order.
  std::vector<GpuState> read() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::vector<void*> devices_;  // null if NVML does not know it
};

}  // namespace hpcboot::monitor
