#include "profile/profile_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <stdexcept>
#include <utility>

namespace hpcboot::profile {
namespace {

using Part = std::pair<std::string_view, std::int64_t ProfileSchedule::*>;
constexpr std::array<Part, 4> kParts{{{"wait", &ProfileSchedule::wait},
                                      {"warmup", &ProfileSchedule::warmup},
                                      {"active", &ProfileSchedule::active},
                                      {"repeat", &ProfileSchedule::repeat}}};

constexpr std::int64_t kMostActive = 1000;
constexpr std::int64_t kMostSteps = 1'000'000'000;  // sums of them do not overflow

std::int64_t number_of(std::string_view part, std::string_view text) {
  std::int64_t value = -1;
  const char* const end = text.data() + text.size();
  const auto [parsed_to, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || parsed_to != end || value < 0 || value > kMostSteps) {
    throw std::invalid_argument(
        fmt::format("has {}={}; expected a number of steps from 0 to {}", part, text, kMostSteps));
  }
  return value;
}

}  // namespace

ProfileSchedule parse_profile_schedule(std::string_view text) {
  ProfileSchedule schedule;
  std::set<std::string_view> given;
  bool expects_part = !text.empty();
  while (expects_part) {
    const std::string_view one = text.substr(0, text.find(','));
    expects_part = one.size() < text.size();  // a comma follows
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const auto equals = one.find('=');
    const std::string_view name = one.substr(0, equals);
    const Part* part = nullptr;
    for (const Part& known : kParts) {
      if (known.first == name) part = &known;
    }
    if (part == nullptr || equals == std::string_view::npos) {
      throw std::invalid_argument(fmt::format(
          "has '{}'; expected wait=N, warmup=N, active=N and repeat=N, separated by commas", one));
    }
    if (!given.insert(name).second) throw std::invalid_argument(fmt::format("has {} twice", name));
    schedule.*part->second = number_of(name, one.substr(equals + 1));
  }
  if (schedule.active > kMostActive) {
    throw std::invalid_argument(fmt::format(
        "has active={}; expected at most {} steps, which are held in memory; use repeat "
        "for more",
        schedule.active, kMostActive));
  }
  if (schedule.active < 1) throw std::invalid_argument("has active=0: it would record nothing");
  return schedule;
}

std::string text_of(const ProfileSchedule& schedule) {
  std::string text;
  for (const auto& [name, value] : kParts) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, schedule.*value);
  }
  return text;
}

ProfileStep profile_step(const ProfileSchedule& schedule, std::int64_t step) {
  const std::int64_t length = schedule.wait + schedule.warmup + schedule.active;
  ProfileStep result;
  result.cycle = step / length + 1;
  if (schedule.repeat > 0 && result.cycle > schedule.repeat) return result;
  const std::int64_t place = step % length - schedule.wait;  // negative while waiting
  if (place < 0) return result;
  const bool warms_up = place < schedule.warmup;
  const std::int64_t begin = warms_up ? 0 : schedule.warmup;
  const std::int64_t steps = warms_up ? schedule.warmup : schedule.active;
  result.phase = warms_up ? ProfilePhase::warmup : ProfilePhase::active;
  result.begins_part = place == begin;
  result.ends_part = place == begin + steps - 1;
  return result;
}

}  // namespace hpcboot::profile
