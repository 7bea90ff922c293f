#include "process_tree.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "hpcboot/env.hpp"

namespace hpcboot::run {
namespace {

// From /proc/PID/stat, whose second field is a name in parentheses that may contain anything.
std::optional<pid_t> parent_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text;
  std::getline(file, text, '\0');  // never throws, even if the process ends meanwhile
  const std::size_t after_name = text.rfind(") ");
  if (after_name == std::string::npos || after_name + 4 > text.size()) return std::nullopt;
  const std::string rest = text.substr(after_name + 4);  // after the state
  const auto parent = parse_whole_number(rest.substr(0, rest.find(' ')));
  if (!parent) return std::nullopt;
  return static_cast<pid_t>(*parent);
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t parent) {
  std::multimap<pid_t, pid_t> children;
  std::error_code reason;
  for (std::filesystem::directory_iterator entry("/proc", reason), end; !reason && entry != end;
       entry.increment(reason)) {
    const std::string name = entry->path().filename();
    const auto process = parse_whole_number(name);
    if (!process) continue;
    if (const auto above = parent_of(name)) children.emplace(*above, static_cast<pid_t>(*process));
  }
  std::vector<pid_t> found{parent};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const auto [first, last] = children.equal_range(found[next]);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

}  // namespace hpcboot::run
