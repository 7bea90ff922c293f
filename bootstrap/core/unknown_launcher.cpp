#include "unknown_launcher.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "hpcboot/error.hpp"
#include "hpcboot/launch_source.hpp"
#include "hpcboot/scheduler.hpp"

namespace hpcboot {
namespace {

// Names that launchers use for the index of a process or host, and for the number of them.
constexpr std::array<std::string_view, 11> kIndexEnds = {
    "RANK",         "RANK_ID",   "PROCID",     "PROCNO",       "PROCESS_ID", "PROCESS_INDEX",
    "WORKER_INDEX", "NODE_RANK", "NODE_INDEX", "MACHINE_RANK", "TRAINER_ID"};
constexpr std::array<std::string_view, 11> kSizeEnds = {
    "SIZE",      "WORLD_SIZE", "NPROCS",      "NRANKS",       "NTASKS", "NUM_PROCESSES",
    "NUM_NODES", "NNODES",     "NUM_WORKERS", "TRAINERS_NUM", "COUNT"};
// Those that, even without an index, almost certainly are the size of a launch.
constexpr std::array<std::string_view, 5> kPlainSizeEnds = {"WORLD_SIZE", "NPROCS", "NRANKS",
                                                            "NUM_PROCESSES", "TRAINERS_NUM"};

// Digits only: no sign, space or base prefix.
std::optional<std::int64_t> plain_decimal(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return parse_whole_number(text);
}

// The part of `name` before `end`: "" or a prefix that ends in an underscore.
std::optional<std::string_view> prefix_before(std::string_view name, std::string_view end) {
  if (name.size() < end.size() || name.substr(name.size() - end.size()) != end) return std::nullopt;
  const std::string_view prefix = name.substr(0, name.size() - end.size());
  if (!prefix.empty() && prefix.back() != '_') return std::nullopt;
  return prefix;
}

// Variables of schedulers, job arrays and CI systems, which identify no rank. Variables that a
// launcher declares still count: that launcher did not recognise this process.
bool places_nobody(std::string_view name) {
  const auto& jobs = schedulers();
  return variables_of_arrays_and_ci().find(name) != nullptr ||
         std::any_of(jobs.begin(), jobs.end(),
                     [&](const Scheduler* s) { return s->variables.find(name) != nullptr; });
}

bool is_declared(std::string_view name) {
  const auto& launchers = launch_sources();
  return places_nobody(name) ||
         std::any_of(launchers.begin(), launchers.end(), [&](const LaunchSource* launcher) {
           return launcher->variables.find(name) != nullptr;
         });
}

struct Pair {
  std::string index;
  std::string size;
};

// "FOO_RANK=3" with "FOO_SIZE=8". The size must follow the prefix directly: a batch size beside the
// rank of a matrix is no such pair.
std::optional<Pair> pair_of(const Env& env, std::string_view name, std::string_view value) {
  const auto index = plain_decimal(value);
  if (!index) return std::nullopt;
  for (const std::string_view index_end : kIndexEnds) {
    const auto prefix = prefix_before(name, index_end);
    if (!prefix) continue;
    for (const std::string_view size_end : kSizeEnds) {
      const std::string size_name = std::string(*prefix).append(size_end);
      const auto size = plain_decimal(env.text(size_name).value_or(""));
      if (size && *size > 1 && *index < *size && !places_nobody(size_name))
        return Pair{std::string(name), size_name};
    }
  }
  return std::nullopt;
}

std::optional<Pair> unknown_pair(const Env& env, std::string_view name, std::string_view value) {
  auto pair = pair_of(env, name, value);
  return pair && !places_nobody(name) ? pair : std::nullopt;
}

std::string shown(const Env& env, const std::string& name) {
  return name.substr(0, 80) + "=" + std::string(env.text(name).value_or("").substr(0, 80));
}

}  // namespace

void require_no_unknown_launcher(const Env& env, const std::vector<const LaunchSource*>& refused) {
  const auto is_explained = [&](std::string_view name) {
    return std::any_of(refused.begin(), refused.end(), [&](const LaunchSource* source) {
      const LaunchVariable* variable = source->variables.find(name);
      return variable != nullptr && variable->use == VariableUse::required;
    });
  };
  for (const auto& [name, value] : env.variables()) {
    const auto pair = unknown_pair(env, name, value);
    if (!pair || is_explained(name)) continue;
    throw Error(ErrorCode::unknown_launcher,
                shown(env, pair->index) + " and " + shown(env, pair->size) +
                    ": an index and a size, set by an unknown launcher",
                "a known launcher, or one described in a file",
                "set HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and HPCBOOT_LOCAL_RANK for each process, or "
                "describe the launcher in a file (`hpcboot launchers --help`): hpcboot and the "
                "trainer read "
                "it, and start other programs with the result by `hpcboot exec -- PROGRAM`; if "
                "this process is "
                "alone, set HPCBOOT_METHODS=single");
  }
}

std::set<std::string, std::less<>> unknown_identities(const Env& env) {
  std::set<std::string, std::less<>> names;
  for (const auto& [name, value] : env.variables()) {
    auto pair = unknown_pair(env, name, value);
    if (!pair) continue;
    names.insert(std::move(pair->index));
    names.insert(std::move(pair->size));
  }
  return names;
}

std::vector<std::string> lone_identity_hints(const Env& env) {
  constexpr std::size_t kMostHints = 8;
  std::vector<std::string> hints;
  for (const auto& [name, value] : env.variables()) {
    if (hints.size() == kMostHints) break;
    if (!plain_decimal(value)) continue;
    const std::string_view variable = name;
    const auto ends_in = [&](std::string_view end) {
      const auto prefix = prefix_before(variable, end);
      return prefix && !prefix->empty();
    };
    const char* what = nullptr;
    if (std::any_of(kIndexEnds.begin(), kIndexEnds.end(), ends_in)) what = "a rank";
    if (std::any_of(kPlainSizeEnds.begin(), kPlainSizeEnds.end(), ends_in)) what = "a world size";
    if (what == nullptr || is_declared(name)) continue;
    hints.push_back(shown(env, name) + " looks like " + what +
                    ", but no known launcher sets it: this process is treated as single");
  }
  return hints;
}

}  // namespace hpcboot
