#include <unistd.h>

#include "jobs/run/agents/agent.hpp"
#include "verbs.hpp"

namespace hpcboot::tool {
namespace {

int run_agent(const Arguments& arguments) {
  if (!arguments.empty() || isatty(STDIN_FILENO) != 0)
    throw UsageError("run-agent is started by hpcboot run, on each of its hosts");
  return run::agent_main(STDIN_FILENO, STDOUT_FILENO);
}

}  // namespace

const InternalVerb kRunAgent{"run-agent", run_agent};

}  // namespace hpcboot::tool
