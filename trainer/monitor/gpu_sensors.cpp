#include "monitor/gpu_sensors.hpp"

#include "gpu/nvml.hpp"

namespace hpcboot::monitor {
namespace {

// Source of the functions and numbers: NVML API Reference Manual.
using gpu::Nvml;
constexpr int kSuccess = Nvml::kSuccess;
constexpr int kTemperatureOfGpu = 0;
constexpr int kClockOfMultiprocessors = 1;
constexpr int kClockOfMemory = 2;

std::optional<double> value_of(int result, double value) {
  return result == kSuccess ? std::optional<double>(value) : std::nullopt;
}

}  // namespace

struct GpuSensors::Library {
  Library() {
    nvml.load(utilization, "nvmlDeviceGetUtilizationRates");
    nvml.load(memory, "nvmlDeviceGetMemoryInfo");
    nvml.load(temperature, "nvmlDeviceGetTemperature");
    nvml.load(power, "nvmlDeviceGetPowerUsage");
    nvml.load(clock, "nvmlDeviceGetClockInfo");
  }

  Nvml nvml;
  // NVML's structs as arrays, so that a substitute in tests has the same types.
  int (*utilization)(Nvml::Device, unsigned*) = nullptr;       // percent: of the GPU, its memory
  int (*memory)(Nvml::Device, unsigned long long*) = nullptr;  // bytes: total, free, used
  int (*temperature)(Nvml::Device, int, unsigned*) = nullptr;
  int (*power)(Nvml::Device, unsigned*) = nullptr;  // milliwatts
  int (*clock)(Nvml::Device, int, unsigned*) = nullptr;
};

GpuSensors::GpuSensors(const std::vector<std::string>& pci_addresses)
    : library_(std::make_unique<Library>()) {
  for (const std::string& address : pci_addresses)
    devices_.push_back(library_->nvml.device_at(address));
}

GpuSensors::~GpuSensors() = default;

std::vector<GpuState> GpuSensors::read() const {
  std::vector<GpuState> states;
  for (const Nvml::Device device : devices_) {
    GpuState& state = states.emplace_back();
    if (device == nullptr) continue;
    unsigned load[2] = {};
    int code = library_->utilization(device, load);
    state.load_percent = value_of(code, load[0]);
    unsigned long long memory[3] = {};
    code = library_->memory(device, memory);
    state.memory_bytes = value_of(code, static_cast<double>(memory[2]));
    unsigned number = 0;
    code = library_->temperature(device, kTemperatureOfGpu, &number);
    state.temperature_celsius = value_of(code, number);
    code = library_->power(device, &number);
    state.power_watts = value_of(code, number / 1000.0);
    code = library_->clock(device, kClockOfMultiprocessors, &number);
    state.clock_mhz = value_of(code, number);
    code = library_->clock(device, kClockOfMemory, &number);
    state.memory_clock_mhz = value_of(code, number);
  }
  return states;
}

}  // namespace hpcboot::monitor
