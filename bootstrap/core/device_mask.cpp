#include "device_mask.hpp"

#include <algorithm>

#include "contains.hpp"

namespace hpcboot::device_masks {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(',');
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text.substr(0, 80)) + (text.size() > 80 ? "…'" : "'");
}

namespace {

// Those that are read. No host has as many devices, and duplicates are sought in each list.
constexpr std::size_t kMostEntries = 4096;

std::vector<std::string> entries_of(std::string_view text) {
  std::vector<std::string> entries = split(text);
  entries.resize(std::min(entries.size(), kMostEntries));
  return entries;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\f\v";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

// The number that strtol finds at the start: "+1" is 1, and so is "1gpu2".
std::optional<std::int64_t> leading_number(std::string_view text) {
  if (starts_with(text, "+") && !starts_with(text, "+-")) text.remove_prefix(1);
  const std::size_t sign = starts_with(text, "-") ? 1 : 0;
  return parse_whole_number(
      text.substr(0, std::min(text.find_first_not_of("0123456789", sign), text.size())));
}

// @param reader the software that reads the list
Mask ended_at(Mask mask, std::string_view entry, const char* reader) {
  // Users end a list with -1; Slurm sets NoDevFiles if no device was requested.
  if (!starts_with(trimmed(entry), "-") && entry != "NoDevFiles")
    mask.fault = std::string(reader) + " stops reading the list at " + quoted(entry) +
                 ", which names no device";
  return mask;
}

// CUDA Programming Guide, "CUDA_VISIBLE_DEVICES": the list ends before the first entry that names
// no device. All entries have the form of the first: numbers, UUIDs ("GPU-…") or MIG instances
// ("MIG-…"). A duplicate entry hides all devices, as PyTorch also assumes (torch/cuda/__init__.py).
Mask read_cuda_mask(std::string_view text) {
  Mask mask;
  const std::string_view prefix = text.substr(0, 4);
  const bool by_name = prefix == "GPU-" || prefix == "MIG-";
  for (const std::string& entry : entries_of(text)) {
    std::string device = entry;
    if (by_name) {
      if (!starts_with(entry, prefix)) return ended_at(std::move(mask), entry, "CUDA");
    } else {
      const auto number = leading_number(trimmed(entry));
      if (!number || *number < 0) return ended_at(std::move(mask), entry, "CUDA");
      device = std::to_string(*number);
    }
    if (contains(mask.devices, device))
      return {{}, {}, "CUDA shows none, because " + quoted(entry) + " is listed twice"};
    mask.add(device, device);
  }
  return mask;
}

// ROCr, amd_filter_device.cpp: the list ends before an entry that names no device or is a
// duplicate.
Mask read_rocr_mask(std::string_view text) {
  Mask mask;
  for (const std::string& entry : entries_of(text)) {
    std::string device(trimmed(entry));
    if (starts_with(device, "+")) device.erase(0, 1);
    const auto number = parse_whole_number(device);
    const bool is_uuid = starts_with(device, "GPU-") || starts_with(device, "gpu-");
    if (!is_uuid && (!number || *number < 0)) return ended_at(std::move(mask), entry, "ROCr");
    if (number) device = std::to_string(*number);
    if (contains(mask.devices, device)) {
      mask.fault = "ROCr stops reading the list at " + quoted(entry) + ", which is listed twice";
      return mask;
    }
    mask.add(device, device);
  }
  return mask;
}

// ROCclr, rocdevice.cpp: indices into the devices that ROCr shows, without blanks and signs, or
// UUIDs; duplicates count once.
// @param rocr the devices that ROCR_VISIBLE_DEVICES shows; nullptr if it is not set
Mask read_hip_mask(std::string_view text, const std::vector<std::string>* rocr) {
  Mask mask;
  for (const std::string& entry : entries_of(text)) {
    std::string device = entry;
    if (!starts_with(entry, "GPU-")) {
      const auto place = parse_whole_number(entry);
      if (!place || *place < 0 || std::to_string(*place) != entry)
        return ended_at(std::move(mask), entry, "HIP");
      if (rocr != nullptr) {
        if (static_cast<std::size_t>(*place) >= rocr->size()) {
          mask.fault = "HIP stops reading the list at " + quoted(entry) + ": it indexes the " +
                       std::to_string(rocr->size()) + " devices of ROCR_VISIBLE_DEVICES";
          return mask;
        }
        device = (*rocr)[static_cast<std::size_t>(*place)];
      }
    }
    if (!contains(mask.devices, device)) mask.add(entry, device);
  }
  return mask;
}

// "0.0,0.1,1.0" are three devices (tiles), unless Level Zero is set to show whole cards: then they
// are two, the first being "0.0,0.1".
std::vector<std::string> join_tiles(const std::vector<std::string>& tiles) {
  std::vector<std::string> cards;
  for (const std::string& tile : tiles) {
    const auto card_of = [](std::string_view name) { return name.substr(0, name.find('.')); };
    const auto known = std::find_if(cards.begin(), cards.end(), [&](const std::string& card) {
      return card_of(card) == card_of(tile);
    });
    if (known == cards.end()) {
      cards.push_back(tile);
    } else {
      known->append(",").append(tile);
    }
  }
  return cards;
}

Mask read_level_zero_mask(std::string_view text, const Env& env) {
  Mask mask;
  for (const std::string& entry : entries_of(text)) {
    if (entry.empty() || starts_with(entry, "-"))
      return ended_at(std::move(mask), entry, "Level Zero");
    mask.add(entry, entry);
  }
  if (env.text("ZE_FLAT_DEVICE_HIERARCHY") == "COMPOSITE")
    mask.entries = mask.devices = join_tiles(mask.devices);
  return mask;
}

}  // namespace

void end_at_count(Mask& mask, const Facts& facts) {
  const int count = facts.device_count.value_or(0);
  for (std::size_t i = 0; count > 0 && i < mask.devices.size(); ++i) {
    const auto number = parse_whole_number(mask.devices[i]);
    if (!number || *number < count) continue;
    mask.fault = "the list ends before " + mask.devices[i] + ": there are only " +
                 std::to_string(count) + " devices";
    mask.devices.resize(i);
  }
}

std::optional<Mask> read_mask(const Env& env, std::string_view variable) {
  const auto text = env.raw(variable);
  if (!text || (variable == kHip && text->empty())) return std::nullopt;
  if (text->empty()) return Mask{};
  if (variable == kCuda) return read_cuda_mask(*text);
  if (variable == kRocr) return read_rocr_mask(*text);
  if (variable == kLevelZero) return read_level_zero_mask(*text, env);
  const auto rocr = read_mask(env, kRocr);
  return read_hip_mask(*text, rocr ? &rocr->devices : nullptr);
}

}  // namespace hpcboot::device_masks
