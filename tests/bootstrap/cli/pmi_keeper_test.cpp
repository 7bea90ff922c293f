#include "cli/pmi_keeper.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hpcboot/launch_source.hpp"

namespace hpcboot::tool {
namespace {

std::string read_line(int socket) {
  std::string line;
  char byte = 0;
  while (read(socket, &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

// The launcher's side of PMI_FD after a program under `exec` has ended. If a connection ends with
// an unread answer, the launcher reads a reset, and mpiexec.gforker kills the other ranks.
TEST(PmiKeeper, TakesTheLaunchersAnswerBeforeItLeaves) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t program = fork();
  ASSERT_GE(program, 0);
  if (program == 0) {
    close(ends[1]);
    keep_pmi_connection(
        Env(std::map<std::string, std::string>{{"PMI_FD", std::to_string(ends[0])}}));
    _exit(0);
  }
  close(ends[0]);
  waitpid(program, nullptr, 0);
  EXPECT_EQ(read_line(ends[1]), "cmd=finalize");
  for (const char* part : {"cmd=finalize", "_ack rc=0\n"}) {
    usleep(20'000);
    ASSERT_EQ(send(ends[1], part, std::strlen(part), MSG_NOSIGNAL),
              static_cast<ssize_t>(std::strlen(part)));
  }
  char byte = 0;
  EXPECT_EQ(read(ends[1], &byte, 1), 0) << std::strerror(errno);
  close(ends[1]);
}

TEST(PmiKeeper, IsForAllLaunchersButFlux) {
  EXPECT_FALSE(traits_of("flux").takes_silence_for_a_crash);
  EXPECT_TRUE(traits_of("hydra").takes_silence_for_a_crash);
  EXPECT_TRUE(traits_of("").takes_silence_for_a_crash);  // unknown under bare PMI
}

}  // namespace
}  // namespace hpcboot::tool
