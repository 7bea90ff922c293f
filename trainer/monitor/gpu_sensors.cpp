#include "monitor/gpu_sensors.hpp"

#include <dlfcn.h>

#include <array>

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

}  // namespace

struct GpuSensors::Library {
  explicit Library(void* opened) : handle(opened) {}
  ~Library() {
    if (shutdown != nullptr) shutdown();
    dlclose(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <typename Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
  }

  void* handle;
  int (*shutdown)() = nullptr;
  int (*by_pci)(const char*, Device*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;  // milliwatts
  int (*clock)(Device, int, unsigned*) = nullptr;
};

GpuSensors::GpuSensors(const std::vector<std::string>& pci_addresses) {
  void* const handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw Unavailable{dlerror()};
  library_ = std::make_unique<Library>(handle);
  int (*init)() = nullptr;
  library_->load(init, "nvmlInit_v2");
  library_->load(library_->by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
  if (init == nullptr || library_->by_pci == nullptr)
    throw Unavailable{"libnvidia-ml.so.1 lacks functions of version 2"};
  const int code = init();
  if (code != kSuccess) throw Unavailable{"nvmlInit_v2 returned " + std::to_string(code)};
  library_->load(library_->shutdown, "nvmlShutdown");
  library_->load(library_->utilization, "nvmlDeviceGetUtilizationRates");
  library_->load(library_->memory, "nvmlDeviceGetMemoryInfo");
  library_->load(library_->temperature, "nvmlDeviceGetTemperature");
  library_->load(library_->power, "nvmlDeviceGetPowerUsage");
  library_->load(library_->clock, "nvmlDeviceGetClockInfo");
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
    if (library_->utilization != nullptr) {
      Utilization load{};
      const int code = library_->utilization(device, &load);
      state.load_percent = value_of(code, load.gpu);
    }
    if (library_->memory != nullptr) {
      Memory memory{};
      const int code = library_->memory(device, &memory);
      state.memory_bytes = value_of(code, static_cast<double>(memory.used));
    }
    if (library_->temperature != nullptr) {
      unsigned celsius = 0;
      const int code = library_->temperature(device, kTemperatureOfGpu, &celsius);
      state.temperature_celsius = value_of(code, celsius);
    }
    if (library_->power != nullptr) {
      unsigned milliwatts = 0;
      const int code = library_->power(device, &milliwatts);
      state.power_watts = value_of(code, milliwatts / 1000.0);
    }
    if (library_->clock != nullptr) {
      unsigned mhz = 0;
      int code = library_->clock(device, kClockOfMultiprocessors, &mhz);
      state.clock_mhz = value_of(code, mhz);
      code = library_->clock(device, kClockOfMemory, &mhz);
      state.memory_clock_mhz = value_of(code, mhz);
    }
  }
  return states;
}

std::optional<std::string> pci_address_of(int cuda_device) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return std::nullopt;
  const auto device_of = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
  const auto address_of =
      reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetPCIBusId"));
  std::optional<std::string> address;
  int device = 0;
  std::array<char, 32> text{};
  if (device_of != nullptr && address_of != nullptr &&
      device_of(&device, cuda_device) == kSuccess &&
      address_of(text.data(), static_cast<int>(text.size()) - 1, device) == kSuccess) {
    address = text.data();
  }
  dlclose(driver);
  return address;
}

}  // namespace hpcboot::monitor
