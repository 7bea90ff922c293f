#include "walltime.hpp"

#include <regex>

#include "hpcboot/error.hpp"

namespace hpcboot::jobscripts {
namespace {

Error wrong(const std::string& found, const std::string& expected, const std::string& remedy) {
  return {ErrorCode::malformed_value, found, expected, remedy};
}

// Converts the other formats of sbatch --time to HH:MM:SS: minutes, minutes:seconds, days-hours,
// days-hours:minutes and days-hours:minutes:seconds. Empty for anything else.
std::string as_slurm_reads(const std::string& time) {
  static const std::regex kForm(R"((?:(\d{1,2})-)?(\d{1,4})(?::(\d{2}))?(?::(\d{2}))?)");
  std::smatch parts;
  if (!std::regex_match(time, parts, kForm)) return {};
  const auto number = [&](std::size_t n) { return parts[n].matched ? std::stoi(parts[n]) : 0; };
  if (parts[1].matched) {
    return time_of(number(1) * 86400 + number(2) * 3600 + number(3) * 60 + number(4));
  }
  if (parts[4].matched) return {};
  return time_of(number(2) * 60 + number(3));
}

}  // namespace

std::string time_of(int seconds) {
  const auto two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return two(seconds / 3600) + ":" + two(seconds / 60 % 60) + ":" + two(seconds % 60);
}

namespace {

int seconds_of(const std::string& time) {
  static const std::regex kForm(R"((\d{1,3}):([0-5]\d):([0-5]\d))");
  std::smatch parts;
  if (!std::regex_match(time, parts, kForm)) {
    const std::string meant = as_slurm_reads(time);
    throw wrong("the walltime '" + time + "'", "hours, minutes and seconds, such as 01:30:00",
                meant.empty() ? "correct --time, or queue.time of the site"
                              : "write " + meant + ", as Slurm reads " + time);
  }
  return std::stoi(parts[1]) * 3600 + std::stoi(parts[2]) * 60 + std::stoi(parts[3]);
}

}  // namespace

int walltime_of(const std::string& time) {
  const int seconds = seconds_of(time);
  if (seconds > 0) return seconds;
  throw wrong("the walltime '" + time + "'", "a time greater than 0",
              "correct --time, or queue.time of the site");
}

}  // namespace hpcboot::jobscripts
