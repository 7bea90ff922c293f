#include "gpu/cuda_driver.hpp"

#include <array>

#include "rendezvous/dynamic_library.hpp"

namespace hpcboot::gpu {
namespace {

constexpr int kSuccess = 0;

struct NoDriver {};

[[noreturn]] void refuse(const std::string& /*reason*/) {
  throw NoDriver();
}

/// A text about a CUDA device, which a function of CUDA's driver writes.
std::optional<std::string> text_of_gpu(const char* function, int cuda_device) {
  int (*init)(unsigned) = nullptr;
  int (*device_of)(int*, int) = nullptr;
  int (*text_of)(char*, int, int) = nullptr;
  try {
    DynamicLibrary driver({"libcuda.so.1"}, refuse);
    driver.load(init, "cuInit");
    driver.load(device_of, "cuDeviceGet");
    driver.load(text_of, function);
  } catch (const NoDriver&) {
    return std::nullopt;
  }
  int device = 0;
  std::array<char, 256> text{};
  if (init(0) != kSuccess || device_of(&device, cuda_device) != kSuccess ||
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

}  // namespace hpcboot::gpu
