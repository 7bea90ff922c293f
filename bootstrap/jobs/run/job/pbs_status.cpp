#include "pbs_status.hpp"

#include <algorithm>
#include <ctime>
#include <iomanip>
#include <locale>
#include <sstream>

namespace hpcboot::run {
namespace {

using std::chrono::seconds;

// "    name" of "    name = value"; empty if this is not the first line of an attribute.
std::string name_in(const std::string& line) {
  const std::size_t end = line.find(" = ");
  if (end == std::string::npos || end < 5 || line.compare(0, 4, "    ") != 0) return "";
  const std::string name = line.substr(4, end - 4);
  const bool is_name = name.find_first_not_of(
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                           "0123456789_.-") == std::string::npos;
  return is_name ? name : "";
}

// "Mon Nov 23 11:57:31 2026"
std::optional<WallTime> time_in(const std::string& text) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  std::tm parts{};
  in >> std::get_time(&parts, "%a %b %d %H:%M:%S %Y");
  if (in.fail()) return std::nullopt;
  parts.tm_isdst = -1;
  const std::time_t time = std::mktime(&parts);
  return wall_time_of(time);
}

// "01:00:00", "1:00:00:00" with days, "3600".
std::optional<seconds> duration_in(const std::string& text) {
  constexpr long kMost = kLongestWalltime.count();
  std::vector<long> parts{0};
  for (const char letter : text) {
    if (letter == ':') {
      parts.push_back(0);
    } else if (letter >= '0' && letter <= '9' && parts.back() < kMost) {
      parts.back() = parts.back() * 10 + (letter - '0');
    } else {
      return std::nullopt;
    }
  }
  if (text.empty() || parts.size() > 4) return std::nullopt;
  long sum = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool is_after_days = parts.size() == 4 && i == 1;
    sum = sum * (is_after_days ? 24 : 60) + parts[i];
    if (sum > kMost) return std::nullopt;
  }
  return seconds(sum);
}

}  // namespace

PbsStatus::PbsStatus(std::string_view text) {
  // A long value continues after a line break and a tab. A value that contains both looks the same;
  // the two cannot be distinguished.
  std::string* value = nullptr;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (const std::string name = name_in(line); !name.empty()) {
      value = &attributes_[name].emplace_back(line.substr(name.size() + 7));
    } else if (value != nullptr) {
      *value += line.rfind('\t', 0) == 0 ? line.substr(1) : "\n" + line;
    }
  }
  for (auto& [name, values] : attributes_) {
    for (std::string& shown : values) shown.erase(shown.find_last_not_of('\n') + 1);
  }
}

const std::string& PbsStatus::text(const std::string& name) const {
  static const std::string nothing;
  const auto found = attributes_.find(name);
  return found == attributes_.end() ? nothing : found->second.front();
}

std::optional<WallTime> PbsStatus::time(const std::string& name) const {
  return time_in(text(name));
}

std::string PbsStatus::repeated() const {
  for (const auto& [name, values] : attributes_) {
    if (values.size() > 1) return name;
  }
  return "";
}

std::vector<std::pair<std::string, std::string>> PbsStatus::resources() const {
  static const std::string list = "Resource_List.";
  std::vector<std::pair<std::string, std::string>> found;
  for (auto it = attributes_.lower_bound(list);
       it != attributes_.end() && it->first.rfind(list, 0) == 0; ++it) {
    found.emplace_back(it->first.substr(list.size()), it->second.front());
  }
  return found;
}

// Both schedulers put a backslash before commas, quotes and backslashes: copy_env_value() of
// OpenPBS 23.06, as observed; add_env_value_to_string() of Torque 6.1, which also escapes line
// breaks.
std::map<std::string, std::string> PbsStatus::variables() const {
  std::map<std::string, std::string> found;
  std::string entry;
  const auto take = [&] {
    const std::size_t end = entry.find('=');
    if (end != std::string::npos && end > 0) found[entry.substr(0, end)] = entry.substr(end + 1);
    entry.clear();
  };
  bool is_escaped = false;
  for (const char letter : text("Variable_List")) {
    if (is_escaped || (letter != ',' && letter != '\\')) {
      entry += letter;
      is_escaped = false;
    } else if (letter == '\\') {
      is_escaped = true;
    } else {
      take();
    }
  }
  take();
  return found;
}

// JOB_SUBSTATE_RERUN to …_RERUN3 of both schedulers; the state stays R until the end.
bool PbsStatus::is_rerun() const {
  return is("substate", "60") || is("substate", "61") || is("substate", "62") ||
         is("substate", "63");
}

JobState PbsStatus::state(WallTime now) const {
  JobState state;
  state.start = time(is("stime", "") ? "start_time" : "stime");
  const auto walltime = duration_in(text("Resource_List.walltime"));
  if (state.start && walltime) {
    state.end = *state.start + *walltime;
    // Suspended time does not count. The reported used time may be some minutes old.
    constexpr seconds kOld{600};
    if (const auto used = duration_in(text("resources_used.walltime")))
      state.end = std::max(*state.end, now - kOld + *walltime - *used);
  }
  // OpenPBS 23.06 leaves a deleted job in state R and notes the deletion only in its comment. The
  // comment follows the variables, so any line that looks like a comment may be the real one.
  const auto comments = attributes_.find("comment");
  const bool is_deleted =
      comments != attributes_.end() &&
      std::any_of(comments->second.begin(), comments->second.end(), [](const std::string& comment) {
        return comment.find(" and terminated by ") != std::string::npos;
      });
  state.is_ending = is("job_state", "E") || is("job_state", "C") || is("job_state", "F") ||
                    is_rerun() || is_deleted;
  return state;
}

}  // namespace hpcboot::run
