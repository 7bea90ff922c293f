#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/env.hpp"
#include "hpcboot/facts.hpp"

// The environment variables that mask devices, each read as its runtime reads it.
namespace hpcboot::device_masks {

inline constexpr std::string_view kCuda = "CUDA_VISIBLE_DEVICES";
inline constexpr std::string_view kRocr = "ROCR_VISIBLE_DEVICES";
inline constexpr std::string_view kHip = "HIP_VISIBLE_DEVICES";
inline constexpr std::string_view kLevelZero = "ZE_AFFINITY_MASK";
inline constexpr std::array<std::string_view, 4> kMasks = {kCuda, kRocr, kHip, kLevelZero};

// A mask as its runtime reads it.
struct Mask {
  std::vector<std::string> entries;  // entries that name a device
  std::vector<std::string> devices;  // the devices, as named by the outermost mask
  std::string fault;                 // why it shows fewer devices than it lists, as text

  void add(const std::string& entry, const std::string& device) {
    entries.push_back(entry);
    devices.push_back(device);
  }
};

// Truncates the mask at the first number beyond the device count. Does nothing if there are no
// NVIDIA device files (WSL, Tegra): the count is then unknown.
void end_at_count(Mask& mask, const Facts& facts);

// nullopt if the variable is not set. Elsewhere an empty variable counts as not set; an empty mask
// hides every device, except HIP's, which counts as not set.
std::optional<Mask> read_mask(const Env& env, std::string_view variable);

// Splits at commas.
std::vector<std::string> split(std::string_view text);

// A mask's text, quoted and shortened for messages.
std::string quoted(std::string_view text);

}  // namespace hpcboot::device_masks
