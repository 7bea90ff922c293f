#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job_request.hpp"
#include "shell_reader.hpp"

// The srun, mpirun and similar commands of a script.
namespace hpcboot::lint {

enum class Launcher { srun, mpirun };

struct LaunchCommand {
  Launcher launcher = Launcher::srun;
  const Command* command = nullptr;
  std::size_t first = 0;                       // index of the launcher's name among the words
  std::map<std::string, std::string> options;  // of srun only, by long name
  bool has_all_options = true;  // false if they contain a variable, or if their end is unknown
  // Index of the launched program; the number of words if none was recognised.
  std::size_t program = 0;

  // mpirun -n 2 ./a : -n 4 ./b
  bool has_several_programs() const;
  // The program's name without its folder; empty if there is none.
  std::string program_name() const;
};

// Also finds those after exec, time, env A=b, timeout 60, nohup.
std::vector<LaunchCommand> launch_commands_of(const Shell& shell);

// The name of a program, without its folder.
std::string base_name(const std::string& word);

// mpirun, mpiexec or similar?
bool is_mpirun(const std::string& name);

// A small program for which a failed task does not matter, or that ends on its own? Also "".
bool is_small_program(const std::string& name);

// The number of tasks that this srun starts; nullopt if neither it nor the job states a number.
std::optional<int> tasks_of(const LaunchCommand& srun, const JobRequest& job);
std::optional<int> tasks_per_node_of(const LaunchCommand& srun, const JobRequest& job);

}  // namespace hpcboot::lint
