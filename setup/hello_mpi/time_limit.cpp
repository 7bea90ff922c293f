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
      "all ranks to start and to reach each other",
      "check that every host is up (setup/check-hosts). The usual cause is docker0 or another "
      "interface that is not routable: mpirun --mca btl_tcp_if_include NETWORK/BITS");
  hpcboot::print_error("hello_mpi", error);
  // Only the main thread may call MPI_Abort. mpirun ends the other ranks.
  std::_Exit(error.exit_code());
}

}  // namespace hello
