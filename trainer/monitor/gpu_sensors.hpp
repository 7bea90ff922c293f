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

/// NVIDIA's management library (NVML, libnvidia-ml.so.1), which comes with the driver. It is loaded
/// when needed, so that the program starts without it.
class GpuSensors {
 public:
  /// Why there are none: the library is missing, or cannot be initialised.
  struct Unavailable {
    std::string reason;
  };

  /// @param pci_addresses of the GPUs, "0000:65:00.0"
  /// @throws Unavailable
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

/// The PCI address of a CUDA device of this process, as CUDA's driver numbers them
/// (CUDA_VISIBLE_DEVICES counts). Nothing if the driver does not tell.
std::optional<std::string> pci_address_of(int cuda_device);
/// Its name, "NVIDIA H200".
std::optional<std::string> name_of_gpu(int cuda_device);

}  // namespace hpcboot::monitor
