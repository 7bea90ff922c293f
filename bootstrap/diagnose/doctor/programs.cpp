#include "programs.hpp"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "mpi_family.hpp"

namespace hpcboot::doctor {
namespace {

bool is_program(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), free);
  return real ? real.get() : "";
}

std::string mpirun_in_path(const Env& env) {
  std::istringstream folders{std::string(env.text("PATH").value_or(""))};
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = (folder.empty() ? "." : folder) + "/mpirun";
    if (!is_program(path)) continue;
    const std::string real = real_path(path);
    const std::size_t name = real.rfind('/') + 1;
    if (real.substr(name) != "mpirun") return real;
    for (const char* program : {"orterun", "prterun", "mpiexec.hydra"}) {
      const std::string beside = real.substr(0, name) + program;
      if (is_program(beside)) return real_path(beside);
    }
    return real;
  }
  return "";
}

std::string mpi_launcher_above(const std::vector<Ancestor>& ancestors) {
  for (const Ancestor& ancestor : ancestors) {
    const std::string link = "/proc/" + std::to_string(ancestor.process_id) + "/exe";
    char path[PATH_MAX];
    const ssize_t length = readlink(link.c_str(), path, sizeof path);
    if (length <= 0) continue;
    const std::string program(path, static_cast<std::size_t>(length));
    if (family_of_launcher(program) != Mpi::unknown) return program;
  }
  return "";
}

}  // namespace hpcboot::doctor
