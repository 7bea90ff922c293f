#include "pmix_server.hpp"

#include "core/launchers/launchers.hpp"

namespace hpcboot {
namespace {

constexpr const char* kLibrary = "libpmix.so.2";

bool is_absolute(const std::optional<std::string_view>& folder) {
  return folder && folder->front() == '/';
}

}  // namespace

std::vector<std::string> pmix_library_names(const Env& env) {
  std::vector<std::string> names;
  const auto add = [&names](std::string_view folder, const char* below) {
    names.push_back(std::string(folder) + below + kLibrary);
  };
  // The Python wheel of Open MPI 5 has it in the folder of its plugins.
  if (const auto prefix = env.text("PMIX_PREFIX"); is_absolute(prefix)) {
    for (const char* below : {"/lib/", "/lib64/", "/lib/openmpi/"}) add(*prefix, below);
  }
  // Open MPI 5 sets PMIX_PREFIX only on mpirun's own host, but this variable on all hosts. A step
  // of srun inherits it, but has another server.
  if (const auto folder = env.text("OMPI_LIBDIR_LOC");
      is_absolute(folder) && sources::is_served_by_prrte(env)) {
    for (const char* below : {"/", "/openmpi/"}) add(*folder, below);
  }
  names.emplace_back(kLibrary);
  return names;
}

bool answers_one_client(const Env& env) {
  return env.has("PMIX_RANK") && env.text("PMIX_RANK") == env.text("OMPI_COMM_WORLD_RANK") &&
         env.text("PMIX_VERSION").value_or("").substr(0, 2) == "3.";
}

}  // namespace hpcboot
