#include "pmi_keeper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hpcboot/error.hpp"

namespace hpcboot::tool {
namespace {

[[noreturn]] void fail(const char* call) {
  throw Error(
      ErrorCode::exchange_failed, std::string(call) + ": " + std::strerror(errno),
      "a second process that keeps the PMI connection",
      "set HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT, which makes the exchange unnecessary");
}

// Reads the line "cmd=finalize_ack", for at most a second. An unread answer would reset the
// launcher's connection: mpiexec.gforker then kills the other ranks.
void read_answer(int pmi) {
  char bytes[256];
  pollfd entry{pmi, POLLIN, 0};
  while (poll(&entry, 1, 1000) == 1) {
    const ssize_t count = read(pmi, bytes, sizeof bytes);
    if (count <= 0 || memchr(bytes, '\n', static_cast<std::size_t>(count)) != nullptr) return;
  }
}

// The second process. Async-signal-safe calls only, although there is only one thread.
[[noreturn]] void keep(int ends, int pmi) {
  // The launcher waits until all outputs are closed.
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
  for (int fd = 3; fd < 1024; ++fd) {
    if (fd != ends && fd != pmi) close(fd);
  }
  char byte = 0;
  while (read(ends, &byte, 1) < 0 && errno == EINTR) {
  }
  constexpr char kFinalize[] = "cmd=finalize\n";
  if (send(pmi, kFinalize, sizeof kFinalize - 1, MSG_NOSIGNAL) > 0) read_answer(pmi);
  _exit(0);
}

}  // namespace

void keep_pmi_connection(const Env& env) {
  const int pmi = env.require_integer("PMI_FD", "mpiexec");
  int ends[2];
  if (pipe(ends) != 0) fail("pipe");
  // Forks twice, so that the keeper is not a child of the program, which may wait for all of its
  // children.
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    close(ends[1]);
    const pid_t keeper = fork();
    if (keeper == 0) keep(ends[0], pmi);
    _exit(keeper < 0 ? 1 : 0);
  }
  close(ends[0]);
  // ends[1] stays open, even across exec: it closes when the program ends.
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) fail("fork");
}

}  // namespace hpcboot::tool
