#include <algorithm>
#include <array>
#include <numeric>

#include "device_mask.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "sites.hpp"

// Which device does this rank use? Masks define the visible devices, the order selects one.
namespace hpcboot {
namespace {

using namespace device_masks;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool is_mig(const DeviceChoice& choice) {
  return choice.variable == kCuda && starts_with(choice.visible.front(), "MIG-");
}

void find_visible(DeviceChoice& choice, const Env& env, const Facts& facts) {
  for (int i = 0; i < facts.device_count.value_or(0); ++i)
    choice.visible.push_back(std::to_string(i));
  // Slurm sets the masks of all vendors, and the masks of one vendor narrow each other, so the
  // shortest mask decides; HIP's selects from the devices that ROCr's leaves.
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
  } else if (choice.visible.empty() && text != "NoDevFiles" && facts.device_count != 0) {
    // Flux sets -1 for every job without GPUs, even on hosts without GPUs.
    choice.note = choice.variable + "=" + quoted(text) + " hides every device";
  }
}

class Order {
 public:
  Order(const SiteRule& rule, DeviceChoice& choice) : rule_(rule), choice_(choice) {}

  // The index into choice.visible.
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
        fail("visible devices, numbered 0 to " + std::to_string(choice_.visible.size() - 1));
    }
    return list;
  }

  // Ranks that may run on the same CPUs take the nearest devices in turn.
  std::size_t nearest(std::size_t local_rank, const Env& env, const Facts& facts) const {
    const std::size_t count = choice_.visible.size();
    const auto distances = distances_of_visible(env, facts);
    if (distances.empty()) {
      choice_.note = rule_.origin +
                     "=numa: the distance to these devices cannot be determined, so ranks "
                     "take them in turn";
      return local_rank % count;
    }
    const int least = *std::min_element(distances.begin(), distances.end());
    std::vector<std::size_t> near;
    for (std::size_t i = 0; i < count; ++i) {
      if (distances[i] == least) near.push_back(i);
    }
    return near[local_rank % near.size()];
  }

  // Parallel to choice.visible; empty if a device number does not identify its place on the bus.
  std::vector<int> distances_of_visible(const Env& env, const Facts& facts) const {
    if (!facts.device_distance || choice_.variable == kLevelZero) return {};
    // Numbers in HIP's mask are indices into ROCR's; equal masks were set by Slurm, one per vendor.
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
    choice.note = "CUDA shows a process only the first of the " + std::to_string(count) +
                  " MIG instances in CUDA_VISIBLE_DEVICES: "
                  "hpcboot exec --gpu-bind auto gives each rank its own";
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
  // Slurm sets the masks of all vendors. On AMD devices, HIP indexes ROCR's list and honours CUDA's
  // mask as its own: narrowing both layers would leave an index that the inner one lacks.
  narrow(kCuda);
  narrow(kHip);
  if (masks.empty()) narrow(kRocr);
  narrow(kLevelZero);
  return masks;
}

}  // namespace hpcboot
