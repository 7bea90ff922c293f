#include "rank_staging.hpp"

#include <algorithm>
#include <csignal>
#include <vector>

#include "hpcboot/error.hpp"

namespace hpcboot::run {
namespace {

constexpr std::chrono::milliseconds kLookAtStaging{300};

class Staging {
 public:
  Staging(const RankStaging& order, const RankWatch& watch, Stage& stage)
      : order_(order), watch_(watch), stage_(stage) {}

  std::string run() {
    while (!is_staged_ || !has_everybody()) turn();
    // For the program, which is about to start.
    for (const int number : later_) raise(number);
    return path_;
  }

 private:
  bool has_everybody() const {
    return order_.control == nullptr || order_.control->are_all_staged(kLookAtStaging);
  }

  void turn() {
    PollSet set;
    set.add(watch_.signals.fd(), POLLIN);
    set.add(stage_.fd(), POLLIN);
    if (order_.control != nullptr) set.add(order_.control->fd(), POLLIN);
    set.wait(Clock::now() + (is_staged_ ? std::chrono::milliseconds(0) : kLookAtStaging));
    while (const auto number = watch_.signals.next()) take(*number);
    if (order_.control != nullptr) take_signals_of_run();
    if (getppid() != watch_.launcher) throw ToldToEnd{SIGTERM};
    if (!is_staged_) look_at_stage();
    if (order_.control != nullptr) require_all_ranks();
  }

  void take_signals_of_run() {
    while (const auto number = order_.control->take_signal()) take(*number);
    if (order_.control->is_lost()) throw ToldToEnd{SIGTERM};
  }

  void take(int number) {
    switch (number) {
      case SIGINT:
      case SIGTERM:
      case SIGHUP:
      case SIGQUIT:
      case SIGXCPU:
      case SIGKILL:
        throw ToldToEnd{number};
      case SIGUSR1:
      case SIGUSR2:
      case SIGALRM:
        later_.push_back(number);
        return;
      default:
        return;
    }
  }

  void look_at_stage() {
    const auto staged = stage_.result();
    if (!staged) return;
    is_staged_ = true;
    path_ = staged->path;
    if (!staged->note.empty()) {
      *order_.err << "note: " << order_.host << ": " << staged->note << "\n";
      order_.err->flush();
    }
    if (order_.control != nullptr) order_.control->tell_staged(order_.world_size);
  }

  void require_all_ranks() {
    if (Clock::now() < next_look_) return;
    next_look_ = Clock::now() + order_.timeout;
    if (order_.control->has_all_ranks(order_.world_size)) {
      next_look_ = Clock::time_point::max();
      return;
    }
    throw Error(ErrorCode::deadline_exceeded,
                "not all " + std::to_string(order_.world_size) + " ranks started within " +
                    std::to_string(order_.timeout.count()) + " s",
                "all ranks of the launch", "check the launcher's output, or raise --timeout");
  }

  const RankStaging& order_;
  const RankWatch& watch_;
  Stage& stage_;
  Clock::time_point next_look_ = Clock::now() + order_.timeout;
  bool is_staged_ = false;
  std::string path_;
  std::vector<int> later_;
};

}  // namespace

std::string stage_for_rank(const RankStaging& order, const Env& env, const RankWatch& watch,
                           std::unique_ptr<Stage>& stage) {
  try {
    stage = std::make_unique<Stage>(order.source, env, order.launch_id);
    return Staging(order, watch, *stage).run();
  } catch (const Error& error) {
    throw Error(error.code(), order.host + ": " + error.found(), error.expected(), error.remedy());
  }
}

}  // namespace hpcboot::run
