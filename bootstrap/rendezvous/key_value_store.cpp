#include "hpcboot/key_value_store.hpp"

#include <unistd.h>

#include "file.hpp"
#include "hpcboot/resolve.hpp"
#include "launch_identity.hpp"
#include "pmi1.hpp"
#include "pmi2.hpp"
#include "pmix.hpp"

namespace hpcboot {
namespace {

constexpr const char* kFolder = "HPCBOOT_EXCHANGE_DIR";

// If PMI_FD is a socket, is it Hydra's? Yes if MPI_LOCALRANKID is set and was not inherited: a
// process started by srun itself is SLURM_TASK_PID.
bool hydra_serves(const Env& env) {
  return env.has("MPI_LOCALRANKID") && env.text("SLURM_TASK_PID") != std::to_string(getpid());
}

}  // namespace

std::vector<int> KeyValueStore::node_map(std::chrono::milliseconds) {
  return {};
}

std::string_view offered_kvs(const Env& env) {
  const bool has_socket = pmi_fd_is_open_socket(env);
  const auto name_space = env.text("PMIX_NAMESPACE");
  // Hydra does not serve PMIx: its proxies inherit the variables of srun, or of a rank of mpirun.
  const bool is_inherited = has_socket && hydra_serves(env);
  if (name_space && env.has("PMIX_RANK") && !is_inherited) return "pmix";
  if (has_socket && env.text("SLURM_MPI_TYPE") == "pmi2" && !hydra_serves(env)) return "pmi2";
  if (has_socket) return "pmi1";
  return env.has(kFolder) ? "file" : "";
}

std::string load_kvs_library(const Env& env) {
  const std::string_view kind = offered_kvs(env);
  if (kind == "pmix") return load_pmix(env);
  if (kind == "pmi2") return load_pmi2();
  return std::string(kind);
}

std::unique_ptr<KeyValueStore> open_kvs(const Env& env, std::chrono::milliseconds deadline) {
  const std::string_view kind = offered_kvs(env);
  if (kind == "pmix") return open_pmix_kvs(env, deadline);
  if (kind == "pmi2") return open_pmi2_kvs(deadline);
  if (kind == "pmi1") return open_pmi1_kvs(env, deadline);
  if (kind.empty()) return nullptr;
  const Resolution r = resolve(env, Facts::of_this_process(env));
  return open_file_kvs({std::string(*env.text(kFolder)), launch_identity(r, env), r.placement.rank,
                        r.placement.world_size},
                       deadline);
}

}  // namespace hpcboot
