#include "time_limit.hpp"

#include <cstdlib>

#include "hpcboot/error.hpp"
#include "text/terminal.hpp"

namespace hello {

TimeLimit::TimeLimit(std::chrono::seconds limit) : limit_(limit), watcher_([this] { watch(); }) {}

TimeLimit::~TimeLimit() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  watcher_.join();
}

void TimeLimit::watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (changed_.wait_for(lock, limit_, [this] { return over_; })) return;
  const hpcboot::Error error(
      hpcboot::ErrorCode::deadline_exceeded,
      "not done after " + std::to_string(limit_.count()) + " s; the last step was " + phase_.load(),
      "all ranks to come and to reach each other",
      "is every host up (setup/check-hosts)? A docker0 or another interface that leads nowhere is "
      "the usual reason: mpirun --mca btl_tcp_if_include NETWORK/BITS");
  hpcboot::print_error("hello_mpi", error);
  // MPI_Abort may be called by the main thread alone. mpirun ends the other ranks.
  std::_Exit(error.exit_code());
}

}  // namespace hello
