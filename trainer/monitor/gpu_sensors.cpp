#include "monitor/gpu_sensors.hpp"

#include <array>

#include "rendezvous/dynamic_library.hpp"

namespace hpcboot::monitor {
namespace {

// Declared here because nvml.h and cuda.h come with CUDA's toolkit, and these functions with every
// driver. Source: NVML API Reference Manual, CUDA Driver API Reference.
constexpr int kSuccess = 0;
constexpr int kTemperatureOfGpu = 0;
constexpr int kClockOfMultiprocessors = 1;
constexpr int kClockOfMemory = 2;

struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

using Device = void*;

std::optional<double> value_of(int result, double value) {
  return result == kSuccess ? std::optional<double>(value) : std::nullopt;
}

[[noreturn]] void refuse(const std::string& reason) {
  throw GpuSensors::Unavailable{reason};
}

}  // namespace

struct GpuSensors::Library {
  Library() : nvml({"libnvidia-ml.so.1"}, refuse) {
    int (*init)() = nullptr;
    nvml.load(init, "nvmlInit_v2");
    nvml.load(shutdown, "nvmlShutdown");
    nvml.load(by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
    nvml.load(utilization, "nvmlDeviceGetUtilizationRates");
    nvml.load(memory, "nvmlDeviceGetMemoryInfo");
    nvml.load(temperature, "nvmlDeviceGetTemperature");
    nvml.load(power, "nvmlDeviceGetPowerUsage");
    nvml.load(clock, "nvmlDeviceGetClockInfo");
    const int code = init();
    if (code != kSuccess) refuse("nvmlInit_v2 returned " + std::to_string(code));
  }
  ~Library() { shutdown(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  DynamicLibrary nvml;
  int (*shutdown)() = nullptr;
  int (*by_pci)(const char*, Device*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;  // milliwatts
  int (*clock)(Device, int, unsigned*) = nullptr;
};

GpuSensors::GpuSensors(const std::vector<std::string>& pci_addresses)
    : library_(std::make_unique<Library>()) {
  for (const std::string& address : pci_addresses) {
    Device device = nullptr;
    if (library_->by_pci(address.c_str(), &device) != kSuccess) device = nullptr;
    devices_.push_back(device);
  }
}

GpuSensors::~GpuSensors() = default;

std::vector<GpuState> GpuSensors::read() const {
  std::vector<GpuState> states;
  for (const Device device : devices_) {
    GpuState& state = states.emplace_back();
    if (device == nullptr) continue;
    Utilization load{};
    int code = library_->utilization(device, &load);
    state.load_percent = value_of(code, load.gpu);
    Memory memory{};
    code = library_->memory(device, &memory);
    state.memory_bytes = value_of(code, static_cast<double>(memory.used));
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

namespace {

/// A text about a CUDA device, which a function of CUDA's driver writes.
std::optional<std::string> text_of_gpu(const char* function, int cuda_device) {
  int (*device_of)(int*, int) = nullptr;
  int (*text_of)(char*, int, int) = nullptr;
  try {
    DynamicLibrary driver({"libcuda.so.1"}, refuse);
    driver.load(device_of, "cuDeviceGet");
    driver.load(text_of, function);
  } catch (const GpuSensors::Unavailable&) {
    return std::nullopt;
  }
  int device = 0;
  std::array<char, 256> text{};
  if (device_of(&device, cuda_device) != kSuccess ||
      text_of(text.data(), static_cast<int>(text.size()) - 1, device) != kSuccess) {
    return std::nullopt;
  }
  return text.data();
}

}  // namespace

std::optional<std::string> pci_address_of(int cuda_device) {
  return text_of_gpu("cuDeviceGetPCIBusId", cuda_device);
}

std::optional<std::string> name_of_gpu(int cuda_device) {
  return text_of_gpu("cuDeviceGetName", cuda_device);
}

}  // namespace hpcboot::monitor
