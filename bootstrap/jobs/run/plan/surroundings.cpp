#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <set>

#include "core/cpu_quota.hpp"
#include "core/cpu_topology.hpp"
#include "core/numa.hpp"
#include "core/program_path.hpp"
#include "core/schedulers/read_file.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "plan.hpp"

namespace hpcboot::run {
namespace {

std::string own_path() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "hpcboot";
}

std::string program_in_path(const Env& env, const std::string& name) {
  return hpcboot::find_program(env.text("PATH").value_or("/usr/bin:/bin"), name);
}

std::string whole_text(const std::string& path) {
  FileText file = read_whole(path, FileKind::any);
  if (file.text) return std::move(*file.text);
  throw Error(ErrorCode::unreadable_file, path + " cannot be read: " + file.reason,
              "a readable file", "correct the path");
}

// Without a mask or NVIDIA's device files the number is unknown.
std::optional<int> count_visible_devices(const Env& env, const Facts& facts) {
  const DeviceChoice choice = choose_device(env, facts, 0, std::nullopt);
  if (choice.variable.empty() && choice.visible.empty()) return std::nullopt;
  return static_cast<int>(choice.visible.size());
}

}  // namespace

Surroundings Surroundings::of_this_process(const Env& env) {
  Surroundings s;
  s.env = env;
  s.facts = Facts::of_this_process(env);
  s.allocation = read_allocation(env);
  s.self = own_path();
  const std::vector<Core> cores = cores_of("/sys", cpus_of_this_process());
  std::set<int> nodes;
  for (const Core& core : cores) nodes.insert(core.numa_node);
  const int all = std::max(static_cast<int>(cores.size()), 1);
  s.cores = std::min(all, cpus_of_quota().value_or(all));
  s.numa_nodes = std::clamp(static_cast<int>(nodes.size()), 1, s.cores);
  s.visible_devices = count_visible_devices(env, s.facts);
  s.find_program = program_in_path;
  s.run_command = [](const std::vector<std::string>& words, const std::string& input) {
    return hpcboot::run_command(words, {input});
  };
  s.read_file = whole_text;
  return s;
}

}  // namespace hpcboot::run
