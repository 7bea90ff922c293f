#include "selection.hpp"

#include <algorithm>
#include <iterator>

#include "exported_pod.hpp"
#include "hpcboot/error.hpp"
#include "nesting.hpp"
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
      throw Error(ErrorCode::unknown_method, "HPCBOOT_METHODS contains '" + std::string(name) + "'",
                  "one or more of: " + known + "single", "correct HPCBOOT_METHODS or unset it");
    }
    methods.sources.push_back(*found);
  }
  return methods;
}

[[noreturn]] void fail_ambiguous(const Claim& first, const Claim& second, const Facts& facts) {
  const auto shown = [](const Claim& claim) {
    std::string text = std::string(claim.source->name) + " reports " + describe(claim.facts);
    if (claim.source->level == Level::elastic_agent) {
      text += claim.facts.num_nodes ? " GROUP_WORLD_SIZE=" + std::to_string(*claim.facts.num_nodes)
                                    : " without GROUP_WORLD_SIZE";
    }
    return text;
  };
  std::string expected = "one launcher, or two of which one provably started the other; ";
  expected += facts.ancestors ? "the environments of the ancestor processes do not show it"
                              : "the environments of the ancestor processes are not available";
  if (first.source->level == Level::elastic_agent && second.facts.world_size) {
    expected += ", and " + std::string(first.source->name) +
                " would have an agent in each process of " + std::string(second.source->name) +
                " only if GROUP_WORLD_SIZE=" + std::to_string(*second.facts.world_size);
  }
  std::string remedy = "choose one: HPCBOOT_METHODS=" + std::string(first.source->name) +
                       " or HPCBOOT_METHODS=" + std::string(second.source->name);
  if (first.facts.world_size == 1 || second.facts.world_size == 1)
    remedy += ", or HPCBOOT_METHODS=single to run this process alone";
  throw Error(ErrorCode::ambiguous_environment, shown(first) + ", " + shown(second), expected,
              remedy);
}

// Of two launchers on the same level that disagree: is the second the inner one?
bool second_is_inner(const Claim& first, const Claim& second, const Env& env, const Facts& facts) {
  const auto first_live = first.source->is_live(env, facts);
  const auto second_live = second.source->is_live(env, facts);
  if (first_live == second_live) fail_ambiguous(first, second, facts);
  // Known to serve this process beats unknown, and unknown beats known not to.
  const auto weight = [](const std::optional<bool>& live) { return !live ? 1 : *live ? 2 : 0; };
  return weight(second_live) > weight(first_live);
}

// The launchers that are not proven to have started any of the others. If any launcher is provably
// outer, pods and RANK are dropped too: they cannot be distinguished from variables of an outer
// launcher.
std::vector<Claim> without_proven_outer(const std::vector<Claim>& claims, const Facts& facts) {
  const auto is_outer = [&](const Claim& claim) {
    return std::any_of(claims.begin(), claims.end(), [&](const Claim& other) {
      return proof_of_nesting(*other.source, *claim.source, facts).has_value();
    });
  };
  if (std::none_of(claims.begin(), claims.end(), is_outer)) return claims;
  std::vector<Claim> left;
  std::copy_if(claims.begin(), claims.end(), std::back_inserter(left), [&](const Claim& claim) {
    return is_real_launcher(*claim.source) && !is_outer(claim);
  });
  return left;
}

// DeepSpeed's launcher, Composer, Ray Train and others set nothing but RANK, WORLD_SIZE and
// LOCAL_RANK. srun or mpirun starts such an agent once on each host, and its processes inherit the
// numbers of that one process: taken for theirs, all of them would be one rank. Without the
// environments of the ancestors the numbers of the agent may as well be left over from a shell.
Claim inside_agent(const Claim& inner, const std::vector<Claim>& claims, const Facts& facts) {
  const bool has_elastic_agent = std::any_of(claims.begin(), claims.end(), [](const Claim& claim) {
    return claim.source->level == Level::elastic_agent;
  });
  if (has_elastic_agent || !facts.ancestors) return inner;  // that agent sets RANK, too
  for (const Claim& numbers : claims) {
    if (!may_be_started_by_agent(numbers, inner) ||
        proof_of_inherited_numbers(inner, numbers, facts)) {
      continue;
    }
    if (proof_of_agent(numbers, inner, facts)) return numbers;
    fail_ambiguous(inner, numbers, facts);
  }
  return inner;
}

// The launcher that placed this process. `claims` are in table order, or in the user's order.
Claim innermost(std::vector<Claim> claims, bool is_users_order, const Env& env,
                const Facts& facts) {
  if (!is_users_order && claims.front().source->level != Level::explicit_settings)
    claims = without_proven_outer(claims, facts);
  Claim inner = claims.front();
  if (inner.damage) refuse(inner, claims);
  for (const Claim& other : claims) {
    if (is_users_order || other.source == inner.source) continue;
    if (other.source->level == inner.source->level) {
      if (other.damage) refuse(other, claims);
      if (agree(other.facts, inner.facts)) continue;
      if (second_is_inner(inner, other, env, facts)) inner = other;
    } else if (inner.source->level == Level::elastic_agent && is_real_launcher(*other.source)) {
      if (other.damage || proof_of_nesting(*inner.source, *other.source, facts)) continue;
      // Even if both agree by chance, as their ranks 0 do, their peers differ.
      if (reason_for_nesting(other, inner, env, facts)) {
        inner = other;
      } else if (!agree(other.facts, inner.facts) &&
                 !reason_for_nesting(inner, other, env, facts)) {
        fail_ambiguous(inner, other, facts);
      }
    }
  }
  return is_users_order ? inner : inside_agent(inner, claims, facts);
}

// Which launcher placed this process, and why the others are ignored.
class Verdict {
 public:
  Verdict(Claim chosen, const std::vector<Claim>& claims, bool is_users_order, const Env& env,
          const Facts& facts)
      : chosen_(std::move(chosen)),
        claims_(claims),
        is_users_order_(is_users_order),
        env_(env),
        facts_(facts) {}

  OtherSource testify(const LaunchSource& source) const {
    const auto claim = std::find_if(claims_.begin(), claims_.end(),
                                    [&](const Claim& c) { return c.source == &source; });
    OtherSource result;
    result.source = source.name;
    try {
      if (claim->damage) std::rethrow_exception(claim->damage);
      result.note = "reports " + describe(claim->facts);
      result.agrees = agree(claim->facts, chosen_.facts);
      if (result.agrees) return result;
    } catch (const Error& error) {
      result.agrees = false;
      result.note = error.found();
    }
    const auto reason = explanation(*claim);
    result.is_explained = reason.has_value();
    result.note += ", ignored: " +
                   reason.value_or(std::string(chosen_.source->name) + " takes precedence over " +
                                   result.source + ", but nothing shows which started the other");
    return result;
  }

 private:
  // nullopt if only the launchers' precedence decided.
  std::optional<std::string> explanation(const Claim& other_source) const {
    const std::string chosen(chosen_.source->name);
    if (is_users_order_) return "HPCBOOT_METHODS names " + chosen + " first";
    if (chosen_.source->level == Level::explicit_settings)
      return "the user set HPCBOOT_RANK or a related variable explicitly";
    if (auto proof = proof_of_nesting(*chosen_.source, *other_source.source, facts_)) return proof;
    // PMIx and PMI variables accompany a launcher's own.
    const bool is_library = other_source.source->level == Level::library;
    for (const Claim& claim : claims_) {
      if (!is_library && claim.source != other_source.source) continue;
      if (auto proof = proof_of_agent(chosen_, claim, facts_)) return proof;
    }
    if (auto proof = proof_of_inherited_numbers(chosen_, other_source, facts_)) return proof;
    if (auto reason = reason_for_nesting(chosen_, other_source, env_, facts_)) return reason;
    // PALS may set PMI_SIZE without other PMI variables, and a pod RANK without LOCAL_RANK.
    const bool is_often_partial = is_library || other_source.source->level == Level::generic;
    if (other_source.damage && is_often_partial)
      return chosen + " is more specific and sets some of these variables itself";
    if (other_source.source->level != Level::generic) return std::nullopt;
    // An elastic agent also sets RANK.
    for (const Claim& claim : claims_) {
      if (claim.source->level == Level::elastic_agent && claim.source != chosen_.source)
        return explanation(claim);
    }
    return std::nullopt;
  }

  Claim chosen_;
  const std::vector<Claim>& claims_;
  bool is_users_order_;
  const Env& env_;
  const Facts& facts_;
};

// Does MASTER_ADDR belong to an outer agent, which serves its store there?
bool has_foreign_endpoint(const Claim& chosen, const Env& env, const Facts& facts) {
  const auto& all = launch_sources();
  return chosen.source != nullptr && is_real_launcher(*chosen.source) &&
         std::any_of(all.begin(), all.end(), [&](const LaunchSource* source) {
           if (source == chosen.source || !source->traits.serves_a_store ||
               source->detect(env, facts).match != Match::present) {
             return false;
           }
           const Claim agent = claim_of(*source, env, facts);
           return agent.damage || !agree(agent.facts, chosen.facts) ||
                  proof_of_nesting(*chosen.source, *source, facts);
         });
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
                   detection.reason +
                       ": it started an ancestor of this process, and does not count processes"};
    } else {
      present.push_back(source);
    }
  }
  const bool is_numbered_only = std::all_of(present.begin(), present.end(), [](const auto* source) {
    return source->level == Level::generic;
  });
  const auto exported = is_numbered_only ? exported_pod(methods.sources, env, facts) : std::nullopt;
  if (exported) {
    for (auto& [source, detection] : detections) {
      if (source == exported->claim.source) detection = exported->detection;
    }
  }
  if (present.empty() && !exported && !methods.single_allowed) {
    throw Error(
        ErrorCode::unknown_method,
        "HPCBOOT_METHODS='" + std::string(*env.text("HPCBOOT_METHODS")) +
            "', but none of these placed this process",
        "one of the listed launchers, or `single` in the list for a process without a launcher",
        "start the program with that launcher, or unset HPCBOOT_METHODS");
  }

  Selection selection;
  std::vector<Claim> claims;
  for (const auto& [source, detection] : detections) {
    if (detection.match != Match::present) continue;
    const bool is_exported = exported && source == exported->claim.source;
    claims.push_back(is_exported ? exported->claim : claim_of(*source, env, facts));
  }
  Claim chosen;
  if (!claims.empty()) chosen = innermost(claims, methods.overridden, env, facts);
  selection.source = chosen.source;
  selection.facts = chosen.facts;
  selection.endpoint_is_foreign = has_foreign_endpoint(chosen, env, facts);
  const Verdict verdict(std::move(chosen), claims, methods.overridden, env, facts);

  std::vector<const LaunchSource*> refused;
  for (const auto& [source, detection] : detections) {
    Attempt attempt{std::string(source->name), "absent", detection.reason};
    if (source == selection.source) {
      attempt.outcome = "chosen";
      attempt.reason += "; precedence: " + std::string(source->why_here);
    } else if (detection.match == Match::refused) {
      attempt.outcome = "refused";
      if (source->level == Level::generic) refused.push_back(source);
    } else if (detection.match == Match::present) {
      selection.other_sources.push_back(verdict.testify(*source));
      const OtherSource& other_source = selection.other_sources.back();
      attempt.outcome = "witness";
      attempt.reason = (other_source.agrees ? "agrees: " : "disagrees: ") + other_source.note;
    }
    selection.attempts.push_back(std::move(attempt));
  }
  if (claims.empty() && !methods.overridden) require_no_unknown_launcher(env, refused);
  if (claims.empty())
    selection.attempts.push_back({"single", "chosen", "no launcher placed this process"});
  return selection;
}

}  // namespace hpcboot
