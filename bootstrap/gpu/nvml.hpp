#pragma once

#include <string>

#include "rendezvous/dynamic_library.hpp"

namespace hpcboot::gpu {

/// NVIDIA's management library (NVML, libnvidia-ml.so.1), which comes with the driver. It is loaded
/// when needed, so that programs start without it. Its functions are declared where they are used,
/// because nvml.h comes with CUDA's toolkit. Source: NVML API Reference Manual.
class Nvml {
 public:
  using Device = void*;
  static constexpr int kSuccess = 0;

  /// Why there is none: the library is missing, lacks a function, or cannot be initialised.
  struct Unavailable {
    std::string reason;
  };

  /// @throws Unavailable
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// @throws Unavailable if the library has no function of this name
  template <typename Function>
  void load(Function& function, const char* name) {
    library_.load(function, name);
  }
  /// @param pci_address "0000:65:00.0"
  /// @return null if NVML does not know it
  Device device_at(const std::string& pci_address) const;

 private:
  DynamicLibrary library_;
  int (*shutdown_)() = nullptr;
  int (*by_pci_)(const char*, Device*) = nullptr;
};

}  // namespace hpcboot::gpu
