#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hpcboot/error.hpp"
#include "jobs/run/plan/plan.hpp"

// A machine as described by a test: the real one is never examined.
namespace hpcboot::run {

struct Machine {
  std::map<std::string, std::string> programs;  // name in PATH -> path
  std::map<std::string, std::string> outputs;   // command -> what it prints
  std::map<std::string, std::string> failures;  // command -> what it prints before it fails
  std::map<std::string, std::string> files;     // path -> text
  std::vector<std::string> ran;                 // commands, in their order
  std::string input;                            // of the last command that had one
};

// Surroundings has plain functions, which can only reach global state.
inline Machine& machine() {
  static Machine the_machine;
  return the_machine;
}

class InventedMachine : public testing::Test {
 protected:
  void SetUp() override {
    machine() = {};
    s.facts.hostname = "n1";
    s.facts.user_id = 1000;
    s.self = "/opt/hpcboot";
    s.cores = 8;
    s.numa_nodes = 2;
    s.find_program = [](const Env&, const std::string& name) {
      const auto found = machine().programs.find(name);
      return found == machine().programs.end() ? std::string() : found->second;
    };
    s.run_command = [](const std::vector<std::string>& words, const std::string& input) {
      std::string command;
      for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
      machine().ran.push_back(command);
      if (!input.empty()) machine().input = input;
      const auto found = machine().outputs.find(command);
      if (found != machine().outputs.end()) return CommandResult{true, false, 0, found->second};
      const auto failed = machine().failures.find(command);
      if (failed != machine().failures.end()) return CommandResult{true, false, 1, failed->second};
      return CommandResult{};
    };
    s.read_file = [](const std::string& path) {
      const auto found = machine().files.find(path);
      if (found == machine().files.end())
        throw Error(ErrorCode::unreadable_file, path + " cannot be read", "a file", "correct it");
      return found->second;
    };
    request.command = {"./train", "--epochs", "3"};
  }

  // Puts programs into PATH, in a folder that does not exist: none can be recognised by its real
  // name.
  void install(const std::vector<std::string>& names) {
    for (const std::string& name : names) machine().programs[name] = "/invented/" + name;
  }
  void install_open_mpi() {
    install({"mpirun"});
    machine().outputs["/invented/mpirun --version"] = "mpirun (Open MPI) 4.1.4";
  }
  void install_hydra() {
    install({"mpirun"});
    machine().outputs["/invented/mpirun --version"] = "HYDRA build details:";
  }

  void set_env(const std::map<std::string, std::string>& variables) {
    s.env = Env(variables);
    s.allocation = read_allocation(s.env, {std::nullopt, false});
  }
  void slurm(std::map<std::string, std::string> more = {}) {
    more.insert({{"SLURM_JOB_ID", "7"},
                 {"SLURM_JOB_NODELIST", "n[1-2]"},
                 {"SLURM_TASKS_PER_NODE", "2(x2)"},
                 {"SLURM_JOB_CPUS_PER_NODE", "8(x2)"}});
    set_env(more);
    install({"srun"});
  }
  // A job of two components: a task on n1, and two on each of n2 and n3, with two CPUs each.
  void heterogeneous_slurm(std::map<std::string, std::string> more = {}) {
    more.insert({{"SLURM_HET_SIZE", "2"},
                 {"SLURM_JOB_NODELIST_HET_GROUP_0", "n1"},
                 {"SLURM_TASKS_PER_NODE_HET_GROUP_0", "1"},
                 {"SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0", "8"},
                 {"SLURM_JOB_NODELIST_HET_GROUP_1", "n[2-3]"},
                 {"SLURM_TASKS_PER_NODE_HET_GROUP_1", "2(x2)"},
                 {"SLURM_NTASKS_HET_GROUP_1", "4"},
                 {"SLURM_CPUS_PER_TASK_HET_GROUP_1", "2"},
                 {"SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1", "4(x2)"}});
    more.insert({{"SLURM_JOB_NODELIST", "n1"},
                 {"SLURM_TASKS_PER_NODE", "1"},
                 {"SLURM_JOB_CPUS_PER_NODE", "8"}});
    slurm(more);
  }
  // A job of a scheduler that writes a host file.
  void job(const std::string& scheduler, const std::vector<std::string>& hosts,
           const std::vector<int>& slots) {
    s.allocation = Allocation{};
    s.allocation->scheduler = scheduler;
    s.allocation->job_id = "7";
    s.allocation->hosts = hosts;
    s.allocation->slots = slots;
    s.allocation->hosts_variable = "NODEFILE";
    s.allocation->job_variable = "JOBID";
  }
  void hostfile(const std::string& text) {
    machine().files["hosts"] = text;
    request.hostfile = "hosts";
  }

  Plan plan() { return make_plan(request, s); }
  // "n1:2 n2:2"
  std::string layout() {
    std::string text;
    for (const HostRanks& host : plan().layout.hosts)
      text += (text.empty() ? "" : " ") + host.host + ":" + std::to_string(host.ranks);
    return text;
  }
  std::string command() {
    std::string text;
    for (const std::string& word : plan().words) text += (text.empty() ? "" : " ") + word;
    return text;
  }
  Launcher launcher() { return plan().launcher; }
  // Except what `run` hands over itself.
  std::vector<std::string> exported() {
    std::vector<std::string> names;
    for (const std::string& name : plan().exported) {
      if (name.rfind("HPCBOOT_RUN_", 0) != 0) names.push_back(name);
    }
    return names;
  }
  // The code and the text of the refusal; "" if there is none.
  std::string refusal() {
    try {
      plan();
    } catch (const Error& error) {
      return std::string(name_of(error.code())) + ": " + error.found() + "; expected " +
             error.expected() + "; do " + error.remedy();
    }
    return "";
  }

  Surroundings s;
  RunRequest request;
};

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace hpcboot::run
