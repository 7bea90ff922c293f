#include "jobs/run/launcher/rank_parent.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "hpcboot/env.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "rendezvous/store/fresh_handover.hpp"

// The parent of a rank under an MPI launcher: a process of its own, whose launcher is the test.
namespace hpcboot::run {
namespace {

using namespace std::chrono_literals;
using rendezvous::Handover;

class RankParent : public testing::Test {
 protected:
  // Starts the parent of rank 0, whose program is a script. It is told of Control on its standard
  // input: this process has no other thread yet when it forks.
  void start(const std::string& script) {
    const FdPair input = make_pipe();
    ChildSpec spec;
    spec.words = {"run-rank"};
    spec.input = input.first;
    spec.body = [this, script, input] {
      close(input.second);
      std::string address;
      std::getline(std::cin, address);
      const RankWatch watch;
      const auto control = ControlLink::open(Env({{kControlVariable, address}}), handover_, 0, 10s);
      const Env env = Env::from_process();
      RankStart start;
      start.words = {"sh", "-c", script};
      start.env = {env.variables().begin(), env.variables().end()};
      start.control = control.get();
      return run_rank(start, watch).exit_code;
    };
    parent_.emplace(spec);
    control_.emplace(handover_, "127.0.0.1");
    const std::string address = control_->variables().at(kControlVariable);
    EXPECT_EQ(write(input.second, address.data(), address.size()),
              static_cast<ssize_t>(address.size()));
    close(input.first);
    close(input.second);
  }

  void await_failure() const {
    pollfd entry{control_->fd(), POLLIN, 0};
    ASSERT_EQ(poll(&entry, 1, 30000), 1);
  }

  int exit_code() const {
    for (int i = 0; i < 6000 && !parent_->ended(); ++i) usleep(10000);
    const auto end = parent_->ended();
    return end ? end->exit_code : -1;
  }

  // Its processor time so far.
  std::chrono::nanoseconds used() const {
    clockid_t clock{};
    timespec time{};
    EXPECT_EQ(clock_getcpuclockid(parent_->pid(), &clock), 0);
    EXPECT_EQ(clock_gettime(clock, &time), 0);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  Handover handover_ = rendezvous::fresh_handover(1, {"127.0.0.1"});
  std::optional<Control> control_;
  std::optional<RankChild> parent_;
};

TEST_F(RankParent, uses_no_processor_time_while_it_waits_for_the_others_to_save) {
  start("exit 46");
  await_failure();
  std::this_thread::sleep_for(1s);  // for the program's last output
  const auto before = used();
  std::this_thread::sleep_for(2s);
  EXPECT_LT((used() - before).count(), std::chrono::nanoseconds(50ms).count());
  EXPECT_FALSE(parent_->ended());
  control_->send(SIGTERM);
  EXPECT_EQ(exit_code(), 46);
}

// An orphaned process becomes a child of the rank's parent.
TEST_F(RankParent, reaps_processes_that_its_program_started_and_left) {
  start(
      "helper=$(sleep 0.1 >/dev/null & echo $!); "
      "for i in $(seq 300); do kill -0 $helper || exit 5; sleep 0.1; done; exit 6");
  EXPECT_EQ(exit_code(), 5);
}

}  // namespace
}  // namespace hpcboot::run
