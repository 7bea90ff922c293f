#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

// What one host list costs a job script: start the program, run it and wait for it.
namespace {

constexpr const char* kList = "n[0001-1000]";

// Runs a command and discards its output. @return its exit code, -1 if it cannot be started
int run(std::vector<std::string> command, std::vector<std::string> environment) {
  const auto pointers = [](std::vector<std::string>& words) {
    std::vector<char*> out;
    for (std::string& word : words) out.push_back(word.data());
    out.push_back(nullptr);
    return out;
  };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, command[0].c_str(), &actions, nullptr,
                                  pointers(command).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

void start(benchmark::State& state, const std::vector<std::string>& command,
           const std::vector<std::string>& environment) {
  for (auto _ : state) {
    if (run(command, environment) != 0) {
      state.SkipWithError((command[0] + " is missing or fails").c_str());
      return;
    }
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}

void hpcboot_hosts_expand(benchmark::State& state) {
  start(state, {HPCBOOT_PROGRAM, "hosts", "expand", kList}, {});
}
BENCHMARK(hpcboot_hosts_expand)->Unit(benchmark::kMillisecond)->UseRealTime();

// scontrol reads slurm.conf before it reads the list; this is the smallest that it accepts.
void scontrol_show_hostnames(benchmark::State& state) {
  std::string path = "/tmp/hpcboot_bench_XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) {
    state.SkipWithError("no temporary file");
    return;
  }
  close(file);
  std::ofstream(path) << "ClusterName=bench\nSlurmctldHost=localhost\nNodeName=localhost\n"
                         "PartitionName=p Nodes=localhost\n";
  start(state, {"scontrol", "show", "hostnames", kList}, {"SLURM_CONF=" + path});
  unlink(path.c_str());
}
BENCHMARK(scontrol_show_hostnames)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
