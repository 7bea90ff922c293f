#include "selection.hpp"

#include <algorithm>

#include "hpcboot/error.hpp"
#include "refusal.hpp"
#include "unknown_launcher.hpp"

namespace hpcboot {
namespace {

struct Methods {
  std::vector<const LaunchSource*> sources;
  bool single_allowed = true;
  bool overridden = false;
};

// The order of the table, or HPCBOOT_METHODS="slurm, openmpi single".
Methods methods_of(const Env& env) {
  Methods methods;
  const auto text = env.text("HPCBOOT_METHODS");
  if (!text) {
    methods.sources = launch_sources();
    return methods;
  }
  methods.overridden = true;
  methods.single_allowed = false;
  std::string_view rest = *text;
  while (true) {
    const std::size_t begin = rest.find_first_not_of(", \t");
    if (begin == std::string_view::npos) break;
    rest.remove_prefix(begin);
    const std::string_view name = rest.substr(0, rest.find_first_of(", \t"));
    rest.remove_prefix(name.size());
    if (name == "single") {
      methods.single_allowed = true;
      continue;
    }
    const auto& table = launch_sources();
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const auto* s) { return s->name == name; });
    if (found == table.end()) {
      std::string known;
      for (const LaunchSource* source : table) known += std::string(source->name) + " ";
      throw Error(ErrorCode::unknown_method, "HPCBOOT_METHODS names '" + std::string(name) + "'",
                  "names out of: " + known + "single", "correct HPCBOOT_METHODS or unset it");
    }
    methods.sources.push_back(*found);
  }
  return methods;
}

std::string describe(const LaunchFacts& facts) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<int>& value) {
    if (value) text += (text.empty() ? "" : " ") + std::string(name) + "=" + std::to_string(*value);
  };
  add("rank", facts.rank);
  add("world_size", facts.world_size);
  add("local_rank", facts.local_rank);
  return text;
}

bool agree(const std::optional<int>& a, const std::optional<int>& b) {
  return !a || !b || *a == *b;
}

bool agree(const LaunchFacts& a, const LaunchFacts& b) {
  return agree(a.rank, b.rank) && agree(a.world_size, b.world_size) &&
         agree(a.local_rank, b.local_rank);
}

// Of two launchers of one level that contradict each other: does the second sit further in?
bool second_is_inner(const LaunchSource& first, const LaunchFacts& first_facts,
                     const LaunchSource& second, const LaunchFacts& second_facts, const Env& env,
                     const Facts& facts) {
  const auto first_live = first.is_live(env, facts);
  const auto second_live = second.is_live(env, facts);
  if (first_live != second_live) {
    // Known to serve this process beats unknown, and unknown beats known not to.
    const auto weight = [](const std::optional<bool>& live) { return !live ? 1 : *live ? 2 : 0; };
    return weight(second_live) > weight(first_live);
  }
  throw Error(ErrorCode::ambiguous_environment,
              std::string(first.name) + " says " + describe(first_facts) + ", " +
                  std::string(second.name) + " says " + describe(second_facts),
              "one launcher, or two of which one started the other",
              "say which is meant: HPCBOOT_METHODS=" + std::string(first.name) +
                  " or HPCBOOT_METHODS=" + std::string(second.name));
}

Witness testify(const LaunchSource& witness, const Selection& selection, const Env& env,
                const Facts& facts) {
  Witness result;
  result.source = witness.name;
  try {
    const LaunchFacts said = witness.read(env, facts);
    result.agrees = agree(said, selection.facts);
    result.note = "says " + describe(said);
    if (!result.agrees) {
      result.note += ", left aside: " + std::string(selection.source->name) + " is further in";
    }
  } catch (const Error& error) {
    result.agrees = false;
    result.note = "left aside: " + error.found();
  }
  return result;
}

}  // namespace

Selection select_source(const Env& env, const Facts& facts) {
  const Methods methods = methods_of(env);
  std::vector<std::pair<const LaunchSource*, Detection>> detections;
  std::vector<const LaunchSource*> present;
  for (const LaunchSource* source : methods.sources) {
    detections.emplace_back(source, source->detect(env, facts));
    Detection& detection = detections.back().second;
    if (detection.match != Match::present) continue;
    if (source->level == Level::remote_shell && !present.empty()) {
      detection = {Match::refused,
                   detection.reason + ": it started what started this process, and counts nothing"};
    } else {
      present.push_back(source);
    }
  }
  if (present.empty() && !methods.single_allowed) {
    throw Error(ErrorCode::unknown_method,
                "HPCBOOT_METHODS='" + std::string(*env.text("HPCBOOT_METHODS")) +
                    "', but none of these placed this process",
                "a launcher of that list, or `single` in it for a process without one",
                "start the program with that launcher, or unset HPCBOOT_METHODS");
  }

  Selection selection;
  if (!present.empty()) {
    selection.source = present.front();
    selection.facts = read_or_advise(*selection.source, present, env, facts);
  }
  for (const LaunchSource* other : present) {
    if (methods.overridden || other == selection.source || other->level != selection.source->level)
      continue;
    const LaunchFacts said = other->read(env, facts);
    if (agree(said, selection.facts)) continue;
    if (second_is_inner(*selection.source, selection.facts, *other, said, env, facts)) {
      selection.source = other;
      selection.facts = said;
    }
  }

  for (const auto& [source, detection] : detections) {
    Attempt attempt{std::string(source->name), "absent", detection.reason};
    if (source == selection.source) {
      attempt.outcome = "chosen";
      attempt.reason += "; its place: " + std::string(source->why_here);
    } else if (detection.match == Match::refused) {
      attempt.outcome = "refused";
    } else if (detection.match == Match::present) {
      selection.witnesses.push_back(testify(*source, selection, env, facts));
      const Witness& witness = selection.witnesses.back();
      attempt.outcome = "witness";
      attempt.reason = (witness.agrees ? "agrees: " : "disagrees: ") + witness.note;
    }
    selection.attempts.push_back(std::move(attempt));
  }
  if (present.empty() && !methods.overridden) require_no_unknown_launcher(env);
  if (present.empty())
    selection.attempts.push_back({"single", "chosen", "no launcher placed this process"});
  return selection;
}

}  // namespace hpcboot
