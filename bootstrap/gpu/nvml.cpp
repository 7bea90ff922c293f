#include "gpu/nvml.hpp"

namespace hpcboot::gpu {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw Nvml::Unavailable{reason};
}

}  // namespace

Nvml::Nvml() : library_({"libnvidia-ml.so.1"}, refuse) {
  int (*init)() = nullptr;
  load(init, "nvmlInit_v2");
  load(shutdown_, "nvmlShutdown");
  load(by_pci_, "nvmlDeviceGetHandleByPciBusId_v2");
  const int code = init();
  if (code != kSuccess) refuse("nvmlInit_v2 returned " + std::to_string(code));
}

Nvml::~Nvml() {
  shutdown_();
}

Nvml::Device Nvml::device_at(const std::string& pci_address) const {
  Device device = nullptr;
  return by_pci_(pci_address.c_str(), &device) == kSuccess ? device : nullptr;
}

}  // namespace hpcboot::gpu
