#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job_request.hpp"
#include "shell_reader.hpp"

// srun, mpirun and their like among the commands of a script.
namespace hpcboot::lint {

enum class Launcher { srun, mpirun };

struct LaunchCommand {
  Launcher launcher = Launcher::srun;
  const Command* command = nullptr;
  std::size_t first = 0;                       // index of the launcher's own name among the words
  std::map<std::string, std::string> options;  // srun's alone, by their long names
  bool has_all_options = true;  // false where a variable stands among them: srun $SRUN_ARGS
  // Index of the program that is launched; the number of words where there is none to be seen.
  std::size_t program = 0;

  // The program's name without its folder; empty where there is none.
  std::string program_name() const;
};

// Also behind exec, time, env A=b, timeout 60, nohup.
std::vector<LaunchCommand> launch_commands_of(const Shell& shell);

// The name of a program, without its folder.
std::string base_name(const std::string& word);

// mpirun, mpiexec and their like?
bool is_mpirun(const std::string& name);

// How many tasks this srun starts; nullopt where neither it nor the job says so in numbers.
std::optional<int> tasks_of(const LaunchCommand& srun, const JobRequest& job);
std::optional<int> tasks_per_node_of(const LaunchCommand& srun, const JobRequest& job);

}  // namespace hpcboot::lint
