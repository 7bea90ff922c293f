#include <algorithm>
#include <array>
#include <numeric>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "sites.hpp"

// Which device is mine? Masks say which there are, the order says which of them.
namespace hpcboot {
namespace {

constexpr std::string_view kCuda = "CUDA_VISIBLE_DEVICES";
constexpr std::string_view kRocr = "ROCR_VISIBLE_DEVICES";
constexpr std::string_view kHip = "HIP_VISIBLE_DEVICES";
constexpr std::string_view kLevelZero = "ZE_AFFINITY_MASK";
constexpr std::array<std::string_view, 4> kMasks = {kCuda, kRocr, kHip, kLevelZero};

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(',');
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

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

std::string quoted(std::string_view text) {
  return "'" + std::string(text.substr(0, 80)) + (text.size() > 80 ? "…'" : "'");
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

Mask ended_at(Mask mask, std::string_view entry) {
  // -1 is how users end a list, NoDevFiles how Slurm says that no device was asked for.
  if (!starts_with(trimmed(entry), "-") && entry != "NoDevFiles")
    mask.fault = "the list ends before " + quoted(entry) + ", which names no device";
  return mask;
}

bool contains(const std::vector<std::string>& devices, const std::string& device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

// CUDA Programming Guide, "CUDA_VISIBLE_DEVICES": the list ends before the first entry that names
// no device. All entries are of the form of the first: numbers, UUIDs ("GPU-…") or MIG instances
// ("MIG-…"). One that is listed twice hides all, as PyTorch knows, too (torch/cuda/__init__.py).
Mask read_cuda_mask(std::string_view text) {
  Mask mask;
  const std::string_view prefix = text.substr(0, 4);
  const bool by_name = prefix == "GPU-" || prefix == "MIG-";
  for (const std::string& entry : split(text)) {
    std::string device = entry;
    if (by_name) {
      if (!starts_with(entry, prefix)) return ended_at(std::move(mask), entry);
    } else {
      const auto number = leading_number(trimmed(entry));
      if (!number || *number < 0) return ended_at(std::move(mask), entry);
      device = std::to_string(*number);
    }
    if (contains(mask.devices, device))
      return {{}, {}, "CUDA shows none, because " + quoted(entry) + " is listed twice"};
    mask.add(device, device);
  }
  return mask;
}

// A number beyond the devices that are here names none. Without device files of NVIDIA's (WSL,
// Tegra) nobody has counted them.
void end_at_count(Mask& mask, const Facts& facts) {
  const int count = facts.device_count.value_or(0);
  for (std::size_t i = 0; count > 0 && i < mask.devices.size(); ++i) {
    const auto number = parse_whole_number(mask.devices[i]);
    if (!number || *number < count) continue;
    mask.fault = "the list ends before " + mask.devices[i] + ", for there are " +
                 std::to_string(count) + " devices";
    mask.devices.resize(i);
  }
}

// ROCr, amd_filter_device.cpp: the list ends before an entry that names no device or is listed
// twice.
Mask read_rocr_mask(std::string_view text) {
  Mask mask;
  for (const std::string& entry : split(text)) {
    std::string device(trimmed(entry));
    if (starts_with(device, "+")) device.erase(0, 1);
    const auto number = parse_whole_number(device);
    const bool is_uuid = starts_with(device, "GPU-") || starts_with(device, "gpu-");
    if (!is_uuid && (!number || *number < 0)) return ended_at(std::move(mask), entry);
    if (number) device = std::to_string(*number);
    if (contains(mask.devices, device)) {
      mask.fault = "the list ends before " + quoted(entry) + ", which is listed twice";
      return mask;
    }
    mask.add(device, device);
  }
  return mask;
}

// ROCclr, rocdevice.cpp: places in what ROCr shows, without blanks and signs, or UUIDs; one that is
// listed twice counts once.
// @param rocr what ROCR_VISIBLE_DEVICES shows; nullptr if it is not set
Mask read_hip_mask(std::string_view text, const std::vector<std::string>* rocr) {
  Mask mask;
  for (const std::string& entry : split(text)) {
    std::string device = entry;
    if (!starts_with(entry, "GPU-")) {
      const auto place = parse_whole_number(entry);
      if (!place || *place < 0 || std::to_string(*place) != entry)
        return ended_at(std::move(mask), entry);
      if (rocr != nullptr) {
        if (static_cast<std::size_t>(*place) >= rocr->size()) {
          mask.fault = "the list ends before " + quoted(entry) + ": HIP counts within the " +
                       std::to_string(rocr->size()) + " of ROCR_VISIBLE_DEVICES";
          return mask;
        }
        device = (*rocr)[static_cast<std::size_t>(*place)];
      }
    }
    if (!contains(mask.devices, device)) mask.add(entry, device);
  }
  return mask;
}

// "0.0,0.1,1.0" are three devices, tiles, unless Level Zero is told to show whole cards: then they
// are two, of which the first is "0.0,0.1".
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
  for (const std::string& entry : split(text)) {
    if (entry.empty() || starts_with(entry, "-")) return ended_at(std::move(mask), entry);
    mask.add(entry, entry);
  }
  if (env.text("ZE_FLAT_DEVICE_HIERARCHY") == "COMPOSITE")
    mask.entries = mask.devices = join_tiles(mask.devices);
  return mask;
}

// nullopt if the variable is not set. An empty mask hides every device: here alone "set but empty"
// is an answer; for HIP it is none.
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

bool is_mig(const DeviceChoice& choice) {
  return choice.variable == kCuda && starts_with(choice.visible.front(), "MIG-");
}

void find_visible(DeviceChoice& choice, const Env& env, const Facts& facts) {
  for (int i = 0; i < facts.device_count.value_or(0); ++i)
    choice.visible.push_back(std::to_string(i));
  // Slurm sets the masks of all vendors, and those of one vendor narrow each other, so the shortest
  // one that is set decides; HIP's holds what is left of ROCr's.
  for (const std::string_view variable : kMasks) {
    auto mask = read_mask(env, variable);
    if (!mask) continue;
    if (variable == kCuda) end_at_count(*mask, facts);
    const bool is_inner = variable == kHip && choice.variable == kRocr;
    if (choice.variable.empty() || is_inner || mask->devices.size() < choice.visible.size()) {
      choice.visible = std::move(mask->devices);
      choice.variable = variable;
      choice.note = std::move(mask->fault);
    }
  }
  const std::string_view text = env.raw(choice.variable).value_or("NoDevFiles");
  if (!choice.note.empty()) {
    choice.note = choice.variable + "=" + quoted(text) + ": " + choice.note;
  } else if (choice.visible.empty() && text != "NoDevFiles") {
    choice.note = choice.variable + "=" + quoted(text) + " hides every device";
  }
}

class Order {
 public:
  Order(const SiteRule& rule, DeviceChoice& choice) : rule_(rule), choice_(choice) {}

  // The place in choice.visible.
  std::size_t place_of(std::size_t local_rank, const Env& env, const Facts& facts) const {
    const std::size_t count = choice_.visible.size();
    const std::size_t in_turn = local_rank % count;
    if (rule_.value == "linear") return in_turn;
    if (rule_.value == "reverse") return count - 1 - in_turn;
    if (rule_.value == "numa") return nearest(local_rank, env, facts);
    const std::vector<std::size_t> list = parse_list();
    return list[local_rank % list.size()];
  }

 private:
  std::vector<std::size_t> parse_list() const {
    std::vector<std::size_t> list;
    for (const std::string& entry : split(rule_.value)) {
      const auto number = parse_whole_number(entry);
      if (!number || *number < 0)
        fail("linear, reverse, numa, or a list of devices such as 3,2,1,0");
      list.push_back(static_cast<std::size_t>(*number));
      if (list.back() >= choice_.visible.size())
        fail("devices from 0 to " + std::to_string(choice_.visible.size() - 1) +
             ", as are visible");
    }
    return list;
  }

  // Ranks that may run on the same CPUs take the devices near them in turn.
  std::size_t nearest(std::size_t local_rank, const Env& env, const Facts& facts) const {
    const std::size_t count = choice_.visible.size();
    const auto distances = distances_of_visible(env, facts);
    if (distances.empty()) {
      choice_.note = rule_.origin +
                     "=numa: nothing tells how near these devices are, so they are "
                     "taken in turn";
      return local_rank % count;
    }
    const int least = *std::min_element(distances.begin(), distances.end());
    std::vector<std::size_t> near;
    for (std::size_t i = 0; i < count; ++i) {
      if (distances[i] == least) near.push_back(i);
    }
    return near[local_rank % near.size()];
  }

  // Beside choice.visible; empty where a device's number does not tell its place on the bus.
  std::vector<int> distances_of_visible(const Env& env, const Facts& facts) const {
    if (!facts.device_distance || choice_.variable == kLevelZero) return {};
    // Numbers of HIP's mask are places in ROCR's; equal masks are Slurm's, one for each vendor.
    for (const std::string_view variable : {kCuda, kRocr, kHip}) {
      if (env.has(variable) && env.text(variable) != env.text(choice_.variable)) return {};
    }
    const std::vector<int>& all = *facts.device_distance;
    if (choice_.variable.empty() && all.size() != choice_.visible.size()) return {};
    std::vector<int> distances;
    for (const std::string& name : choice_.visible) {
      const auto number = parse_whole_number(name);
      if (!number || *number < 0 || static_cast<std::size_t>(*number) >= all.size()) return {};
      distances.push_back(all[static_cast<std::size_t>(*number)]);
    }
    return distances;
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw Error(ErrorCode::malformed_value, rule_.origin + "='" + rule_.value + "'", expected,
                "correct " + rule_.origin + " or unset it");
  }

  const SiteRule& rule_;
  DeviceChoice& choice_;
};

}  // namespace

DeviceChoice choose_device(const Env& env, const Facts& facts, int local_rank,
                           std::optional<int> local_size) {
  DeviceChoice choice;
  find_visible(choice, env, facts);
  const std::size_t count = choice.visible.size();
  if (count == 0) return choice;
  choice.device = 0;
  if (count == 1) return choice;
  const auto rule = device_order(env);
  choice.own = Order(rule.value_or(SiteRule{"linear", ""}), choice)
                   .place_of(static_cast<std::size_t>(local_rank), env, facts);
  const auto processes = static_cast<std::size_t>(local_size.value_or(local_rank + 1));
  if (processes > count) {
    choice.note = (choice.note.empty() ? "" : choice.note + "; ") + std::to_string(processes) +
                  " local ranks share " + std::to_string(count) + " devices";
  }
  choice.shows_first_only = is_mig(choice);
  if (choice.shows_first_only) {
    // NVIDIA's MIG user guide, "CUDA Device Enumeration".
    choice.note = "of the " + std::to_string(count) +
                  " MIG instances in CUDA_VISIBLE_DEVICES CUDA shows a process the first only: "
                  "hpcboot exec --gpu-bind auto gives each rank one of its own";
  } else {
    choice.device = static_cast<int>(choice.own);
  }
  return choice;
}

std::vector<std::pair<std::string, std::string>> own_device_masks(const Env& env,
                                                                  const DeviceChoice& choice) {
  if (choice.visible.size() < 2) return {};
  if (choice.variable.empty()) return {{std::string(kCuda), choice.visible[choice.own]}};
  std::vector<std::pair<std::string, std::string>> masks;
  const auto narrow = [&](std::string_view variable) {
    const auto mask = read_mask(env, variable);
    if (mask && choice.own < mask->entries.size())
      masks.emplace_back(variable, mask->entries[choice.own]);
  };
  // Slurm sets the masks of all vendors. On AMD's, HIP counts within ROCR's list and takes CUDA's
  // mask for its own: narrowing both layers would leave a number that the inner one does not have.
  narrow(kCuda);
  narrow(kHip);
  if (masks.empty()) narrow(kRocr);
  narrow(kLevelZero);
  return masks;
}

}  // namespace hpcboot
