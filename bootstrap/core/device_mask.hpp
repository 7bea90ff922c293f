#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/env.hpp"
#include "hpcboot/facts.hpp"

// The variables that mask devices, each read as its runtime reads it.
namespace hpcboot::device_masks {

inline constexpr std::string_view kCuda = "CUDA_VISIBLE_DEVICES";
inline constexpr std::string_view kRocr = "ROCR_VISIBLE_DEVICES";
inline constexpr std::string_view kHip = "HIP_VISIBLE_DEVICES";
inline constexpr std::string_view kLevelZero = "ZE_AFFINITY_MASK";
inline constexpr std::array<std::string_view, 4> kMasks = {kCuda, kRocr, kHip, kLevelZero};

// A mask as its runtime reads it.
struct Mask {
  std::vector<std::string> entries;  // those that show a device
  std::vector<std::string> devices;  // what they show, as the outermost mask calls it
  std::string fault;                 // why it shows less than it lists; for people

  void add(const std::string& entry, const std::string& device) {
    entries.push_back(entry);
    devices.push_back(device);
  }
};

// A number beyond the devices that are here names none. Without device files of NVIDIA's (WSL,
// Tegra) nobody has counted them.
void end_at_count(Mask& mask, const Facts& facts);

// nullopt if the variable is not set. An empty mask hides every device: here alone "set but empty"
// is an answer; for HIP it is none.
std::optional<Mask> read_mask(const Env& env, std::string_view variable);

// The parts of a list with commas.
std::vector<std::string> split(std::string_view text);

// A mask's text in a message.
std::string quoted(std::string_view text);

}  // namespace hpcboot::device_masks
