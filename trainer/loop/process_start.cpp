#include "loop/process_start.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace hpcboot::train {
namespace {

/// The 22nd field of /proc/PID/stat (proc(5)), in seconds since boot. The second field is the
/// command in parentheses, which may contain anything.
double start_after_boot(const std::string& process) {
  constexpr int kFieldsBetween = 19;
  std::ifstream in("/proc/" + process + "/stat");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  double ticks = -1;
  fields >> ticks;
  return fields ? ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)) : -1;
}

std::chrono::steady_clock::time_point start_of(const std::string& process) {
  const auto now = std::chrono::steady_clock::now();
  const double start = start_after_boot(process);
  timespec since_boot{};
  if (start < 0 || ::clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return now;
  const double age = static_cast<double>(since_boot.tv_sec) +
                     static_cast<double>(since_boot.tv_nsec) * 1e-9 - start;
  return now - std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                   std::chrono::duration<double>(std::max(0.0, age)));
}

}  // namespace

std::chrono::steady_clock::time_point start_of_this_process() {
  return start_of("self");
}

std::chrono::steady_clock::time_point start_of_launch(const Env& env, const Facts& facts,
                                                      const Resolution& me) {
  const auto own = start_of_this_process();
  if (me.placement.world_size == 1 || me.placement.rank != 0) return own;
  const auto ancestors =
      facts.ancestors ? *facts.ancestors : ancestors_of_this_process(env, facts.hostname);
  for (const Ancestor& ancestor : ancestors) {
    if (ancestor.process_id == 0 || ancestor.holds(me.launcher).value_or(false)) continue;
    // The parent has ended and cannot be determined: init, whose start means nothing, has adopted
    // the child.
    if (ancestor.process_id == 1) break;
    return std::min(own, start_of(std::to_string(ancestor.process_id)));
  }
  return own;
}

}  // namespace hpcboot::train
