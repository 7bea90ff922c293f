#include "agents.hpp"

#include "coordinator.hpp"
#include "core/descriptor_limit.hpp"
#include "jobs/run/ranks/left_behind.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "jobs/run/stage/stage.hpp"

namespace hpcboot::run {
namespace {

constexpr std::chrono::seconds kTimeForMessages{5};

// Writes the remaining messages; a slow reader of standard error does not hold this up for long.
void write_out(Console& console) {
  const auto until = Clock::now() + kTimeForMessages;
  console.flush();
  while (!console.is_written() && Clock::now() < until) {
    PollSet set;
    console.add_to(set);
    set.wait(until);
    console.flush();
  }
}

// Programs that may end by themselves.
std::vector<std::string> spared_of(const Plan& plan) {
  std::vector<std::string> names = {kStageKeeper};
  for (const AgentPlace& place : plan.agents) {
    if (place.shell.empty()) continue;
    const std::string& program = place.shell.front();
    names.push_back(program.substr(program.rfind('/') + 1));
  }
  return names;
}

}  // namespace

RunEnd run_agents(const AgentRun& run) {
  open_standard_streams();
  raise_descriptor_limit();
  const BlockedSignals signals(
      {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGXCPU, SIGTSTP, SIGCONT});
  const LeftBehind left_behind;
  Console console(run.plan.layout, run.request.prefix);
  Coordinator coordinator(run, console, signals);
  RunEnd end;
  try {
    end.exit_code = coordinator.run();
  } catch (const Error& error) {
    console.say([&](Terminal& to) { to << terminal_lines(format_error("hpcboot run", error)); });
    end.exit_code = error.exit_code();
  }
  // Processes of an agent that was killed. A master process that ssh keeps for other connections
  // belongs to the user.
  left_behind.kill_all(spared_of(run.plan));
  write_out(console);
  end.was_warned = coordinator.was_warned();
  end.asked_by = coordinator.asked_by();
  end.lost_host = coordinator.lost_host();
  return end;
}

}  // namespace hpcboot::run
