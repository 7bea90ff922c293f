#include "stop_requests.hpp"

#include <csignal>

namespace hpcboot::run {

StopMeaning StopRequests::take(int signal, Clock::time_point now) {
  constexpr std::chrono::milliseconds kOneRequest{200};  // a user's second Ctrl-C is slower
  const bool is_same = signal == signal_ || signal_ == SIGHUP;
  const bool is_repeated = signal == SIGHUP || (is_same && now - last_ < kOneRequest);
  const bool is_first = signal_ == 0;
  signal_ = signal;
  last_ = now;
  if (is_first) return StopMeaning::first;
  return is_repeated ? StopMeaning::repeated : StopMeaning::second;
}

}  // namespace hpcboot::run
