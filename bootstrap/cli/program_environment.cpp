#include "program_environment.hpp"

#include <cstring>

#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/key_value_store.hpp"
#include "hpcboot/launch_source.hpp"
#include "jobs/run/ranks/rank_environment.hpp"
#include "lone_process.hpp"
#include "pmi_keeper.hpp"
#include "process/become.hpp"
#include "rendezvous.hpp"
#include "rendezvous/handover.hpp"
#include "rendezvous/store/rendezvous.hpp"
#include "stay_connected.hpp"

namespace hpcboot::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kGds = "PMIX_MCA_gds";

void require_usable(std::string_view kind) {
  if (kind == "pmi2") {
    throw Error(ErrorCode::needs_exchange,
                "the environment does not say where rank 0 listens, and srun --mpi=pmi2 offers an "
                "exchange that can be used only once: an MPI program could not start after it",
                "an endpoint, or an exchange that can be used twice",
                "use srun --mpi=pmix, or set HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT, on every "
                "rank");
  }
}

Variables variables_for(const Env& env, Resolution r, const DeviceChoice& device) {
  const bool is_lone_rank = r.launcher != "single" && r.placement.world_size == 1;
  if (is_alone(r) || (is_lone_rank && !(r.master_addr && r.master_port))) {
    r.launcher = kMadeAlone;
    if (!rendezvous::is_chosen_by_user(r, "master_addr")) r.master_addr = "127.0.0.1";
    if (!rendezvous::is_chosen_by_user(r, "master_port"))
      r.master_port = rendezvous::take_a_free_port()->number();
  }
  return run::torch_environment(env, r, device);
}

// All ranks inherit the same value from an outer launch, which matches the rank of at most one of
// them: of two ranks, at least one sees the conflict.
void report_conflicts(const Resolution& r) {
  if (r.placement.rank > 1) return;
  for (const OtherSource& other_source : r.other_sources) {
    if (other_source.agrees) continue;
    err() << "note: " << r.launcher << " placed this process as rank " << r.placement.rank << " of "
          << r.placement.world_size << ", but " << other_source.source
          << " disagrees: " << other_source.note << "\n";
  }
}

// The port that rank 0 chose stays held until all ranks know it, so that no other rank 0 on its
// host gets the same one.
Resolution agree(const Env& env, const Facts& facts, Way way, Clock::time_point end) {
  Agreement agreement = resolve_together(env, facts, *way.kvs, time_left(end));
  way.kvs->hand_over();
  if (way.kvs->description().rfind("pmix", 0) == 0) stay_connected();
  if (!way.warning.empty()) agreement.resolution.hints.push_back(way.warning);
  return std::move(agreement.resolution);
}

// PMIx's default store cannot be opened by two programs in succession in one process; both must use
// this one, and PMIx reads the choice from the environment that the process started with.
[[noreturn]] void start_again_with_gds(const Env& env, const char* verb,
                                       const Arguments& arguments) {
  Variables variables(env.variables().begin(), env.variables().end());
  variables[kGds] = "hash";
  std::vector<std::string> self = {"hpcboot", verb};
  self.insert(self.end(), arguments.begin(), arguments.end());
  const int reason = become(variables, self, "/proc/self/exe");
  throw Error(ErrorCode::backend_unavailable,
              std::string("hpcboot cannot restart itself: ") + std::strerror(reason),
              "/proc/self/exe", "mount /proc, or set HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT");
}

// Resolves with all ranks together if the environment alone does not say where rank 0 listens.
Resolution resolve_for_program(const Env& env, const Facts& facts, const ProgramOptions& options,
                               const char* verb, const Arguments& arguments) {
  const LocalAnswer alone = resolve_locally(env, facts);
  auto first = alone.answer && options.way ? options.way(*alone.answer) : nullptr;
  const auto end = end_after(options.timeout);
  if (alone.has_endpoint) return *alone.answer;
  if (first) return agree(env, facts, {std::move(first), {}}, end);
  const bool is_handed_over =
      alone.answer && rendezvous::handover_for(env, alone.answer->placement.world_size);
  if (!is_handed_over) {
    if (must_leave_kvs_alone(env))
      return agree(env, facts, open_other_way(alone, env, options.timeout), end);
    const std::string_view kind = offered_kvs(env);
    require_usable(kind);
    if (kind == "pmix" && !env.has(kGds)) start_again_with_gds(env, verb, arguments);
    if (kind == "pmi1" &&
        traits_of(alone.answer ? alone.answer->launcher : "").takes_silence_for_a_crash)
      keep_pmi_connection(env);
  }
  return agree(env, facts, open_way_between(alone, env, options.timeout), end);
}

}  // namespace

ProgramEnvironment environment_for_program(const Env& env, const ProgramOptions& options,
                                           const char* verb, const Arguments& arguments) {
  const Facts facts = Facts::of_this_process(env);
  ProgramEnvironment made;
  made.resolution = resolve_for_program(env, facts, options, verb, arguments);
  const Resolution& r = made.resolution;
  if (options.gpu_bind)
    made.device = choose_device(env, facts, r.placement.local_rank, r.placement.local_size);
  for (const std::string& hint : r.hints) {
    // It advises what --gpu-bind auto already does.
    if (made.device.shows_first_only && hint == made.device.note) continue;
    err() << "hint: " << hint << "\n";
  }
  report_conflicts(r);
  made.variables = variables_for(env, r, made.device);
  return made;
}

}  // namespace hpcboot::tool
