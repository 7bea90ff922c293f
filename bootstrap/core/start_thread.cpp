#include "start_thread.hpp"

#include <sys/resource.h>

#include <string>

#include "hpcboot/error.hpp"

namespace hpcboot {

void fail_thread(const std::system_error& reason) {
  rlimit limit{};
  const bool is_limited = getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  throw Error(ErrorCode::exchange_failed,
              "cannot start a thread: " + reason.code().message() +
                  (is_limited ? " (ulimit -u: " + std::to_string(limit.rlim_cur) + ")" : ""),
              "limits that allow this user and this job some more threads",
              "raise ulimit -u; in a job or a container, also the pids limit of its control group");
}

}  // namespace hpcboot
