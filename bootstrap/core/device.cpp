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

// CUDA's reading of a mask: the list ends before the first entry that names no device. Masks hold
// indices, UUIDs ("GPU-…") or MIG instances ("MIG-…").
std::vector<std::string> devices_in(std::string_view mask) {
  std::vector<std::string> devices = split(mask);
  devices.erase(std::find_if(devices.begin(), devices.end(),
                             [](const std::string& entry) {
                               return entry.empty() || starts_with(entry, "-") ||
                                      entry == "NoDevFiles" || entry == "none";
                             }),
                devices.end());
  return devices;
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

bool names_cuda_device(const std::string& entry) {
  const std::string text = entry.substr(std::min(entry.find_first_not_of(' '), entry.size()));
  return parse_whole_number(text) || starts_with(text, "GPU-") || starts_with(text, "MIG-");
}

std::vector<std::string> devices_of(const Env& env, std::string_view variable,
                                    std::string_view mask) {
  std::vector<std::string> devices = devices_in(mask);
  if (variable == kCuda)
    devices.erase(std::find_if_not(devices.begin(), devices.end(), names_cuda_device),
                  devices.end());
  if (variable == kLevelZero && env.text("ZE_FLAT_DEVICE_HIERARCHY") == "COMPOSITE")
    return join_tiles(devices);
  return devices;
}

bool is_mig(const DeviceChoice& choice) {
  return choice.variable == kCuda && starts_with(choice.visible.front(), "MIG-");
}

void find_visible(DeviceChoice& choice, const Env& env, const Facts& facts) {
  for (int i = 0; i < facts.device_count.value_or(0); ++i)
    choice.visible.push_back(std::to_string(i));
  // Masks of one vendor stack narrow each other, so the shortest one that is set decides. An empty
  // mask hides every device: here alone "set but empty" is an answer.
  for (const std::string_view variable : kMasks) {
    const auto mask = env.raw(variable);
    if (!mask) continue;
    std::vector<std::string> devices = devices_of(env, variable, *mask);
    if (choice.variable.empty() || devices.size() < choice.visible.size()) {
      choice.visible = std::move(devices);
      choice.variable = variable;
    }
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
    choice.note =
        std::to_string(processes) + " local ranks share " + std::to_string(count) + " devices";
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
    const auto mask = env.raw(variable);
    if (!mask) return;
    const std::vector<std::string> devices = devices_of(env, variable, *mask);
    if (choice.own < devices.size()) masks.emplace_back(variable, devices[choice.own]);
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
