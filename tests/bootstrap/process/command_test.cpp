#include "process/command.hpp"

#include <gtest/gtest.h>

namespace hpcboot {
namespace {

CommandResult shell(const std::string& script) {
  CommandOptions options;
  options.limit = std::chrono::seconds(60);
  return run_command({"sh", "-c", script}, options);
}

TEST(Command, IsOverWhenTheProgramHasEnded) {
  const CommandResult result = shell("sleep 600 & echo 12; exit 3");
  EXPECT_FALSE(result.is_late);
  EXPECT_EQ(result.output, "12\n");
  EXPECT_EQ(result.exit_code, 3);
}

TEST(Command, KeepsAllThatTheProgramHasWritten) {
  // More than a pipe holds.
  const CommandResult result =
      shell("sleep 600 & head -c 300000 /dev/zero | tr '\\0' x; echo end >&2");
  EXPECT_FALSE(result.is_late);
  EXPECT_EQ(result.output, std::string(300'000, 'x') + "end\n");
}

TEST(Command, AProcessThatWritesAllTheTimeDoesNotKeepIt) {
  CommandOptions options;
  options.limit = std::chrono::seconds(60);
  options.most_bytes = std::size_t{1} << 40U;
  const CommandResult result =
      run_command({"sh", "-c", "echo 12; while :; do echo on; done & sleep 0.1"}, options);
  EXPECT_FALSE(result.is_late);
  EXPECT_EQ(result.output.substr(0, 3), "12\n");
  EXPECT_EQ(result.exit_code, 0);
}

}  // namespace
}  // namespace hpcboot
