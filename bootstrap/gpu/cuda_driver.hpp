#pragma once

#include <optional>
#include <string>

// What CUDA's driver (libcuda.so.1) says about the GPUs of this process. It is loaded when needed,
// so that programs start without it; the first call of a process may take seconds, and creates no
// context on a GPU.
namespace hpcboot::gpu {

/// The PCI address of a CUDA device of this process, "0000:65:00.0", as CUDA's driver numbers them
/// (CUDA_VISIBLE_DEVICES counts). Nothing if the driver does not tell.
std::optional<std::string> pci_address_of(int cuda_device);
/// Its name, "NVIDIA H200".
std::optional<std::string> name_of_gpu(int cuda_device);

}  // namespace hpcboot::gpu
