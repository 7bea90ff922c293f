#include "programs.hpp"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <memory>

#include "core/program_path.hpp"
#include "mpi_family.hpp"

namespace hpcboot::doctor {
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), free);
  return real ? real.get() : "";
}

std::string program_behind(const std::string& path) {
  const std::string real = real_path(path);
  const std::size_t name = real.rfind('/') + 1;
  if (real.substr(name) != "mpirun") return real;
  for (const char* program : {"orterun", "prterun", "mpiexec.hydra"}) {
    const std::string beside = real.substr(0, name) + program;
    if (is_program(beside)) return real_path(beside);
  }
  return real;
}

std::string mpirun_in_path(const Env& env) {
  const std::string path = find_program(env.text("PATH").value_or(""), "mpirun");
  return path.empty() ? "" : program_behind(path);
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
