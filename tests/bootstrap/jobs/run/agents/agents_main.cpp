#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "jobs/run/agents/agent.hpp"

// The test program is its own agent.
int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "run-agent")
    return hpcboot::run::agent_main(STDIN_FILENO, STDOUT_FILENO);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
