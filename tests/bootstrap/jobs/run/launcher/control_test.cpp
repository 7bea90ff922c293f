#include "jobs/run/launcher/control.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>
#include <ctime>
#include <thread>

#include "hpcboot/facts.hpp"
#include "rendezvous/store/fresh_handover.hpp"
#include "support/expect_error.hpp"

namespace hpcboot::run {
namespace {

using namespace std::chrono_literals;
using rendezvous::Handover;

class ControlOfTwo : public testing::Test {
 protected:
  std::unique_ptr<ControlLink> link(int rank) const {
    return ControlLink::open(Env(control_.variables()), handover_, rank, 10s);
  }

  static RankEnd failure_of(int rank) {
    RankEnd end;
    end.rank = rank;
    end.host = "n1";
    end.process_id = 4711;
    end.exit_code = 137;
    end.signal = SIGKILL;
    end.last_lines = {"one", "two \x1b[31m \xff"};
    return end;
  }

  // The signals that arrive within some time.
  static std::vector<int> signals(ControlLink& link, std::size_t count) {
    std::vector<int> all;
    while (all.size() < count) {
      pollfd entry{link.fd(), POLLIN, 0};
      if (poll(&entry, 1, 10000) != 1) break;
      while (const auto number = link.take_signal()) all.push_back(*number);
    }
    return all;
  }

  Handover handover_ = rendezvous::fresh_handover(2, {"127.0.0.1"});
  Control control_{handover_, "127.0.0.1"};
};

TEST_F(ControlOfTwo, knows_the_first_failure_and_no_later_one) {
  EXPECT_FALSE(control_.first_failure());
  const auto rank1 = link(1);
  const auto rank0 = link(0);
  ASSERT_TRUE(rank0 && rank1);
  rank1->report(failure_of(1));
  rank0->report(failure_of(0));
  pollfd entry{control_.fd(), POLLIN, 0};
  ASSERT_EQ(poll(&entry, 1, 10000), 1);
  const auto first = control_.first_failure();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rank, 1);
  EXPECT_EQ(first->host, "n1");
  EXPECT_EQ(first->process_id, 4711);
  EXPECT_EQ(first->exit_code, 137);
  EXPECT_EQ(first->signal, SIGKILL);
  ASSERT_EQ(first->last_lines.size(), 2U);
  EXPECT_EQ(first->last_lines[0], "one");
}

TEST_F(ControlOfTwo, every_rank_gets_every_signal_once_and_in_order_also_a_late_one) {
  const auto rank0 = link(0);
  ASSERT_TRUE(rank0);
  control_.send(SIGUSR1);
  control_.send(SIGTERM);
  EXPECT_EQ(signals(*rank0, 2), (std::vector<int>{SIGUSR1, SIGTERM}));
  const auto rank1 = link(1);
  ASSERT_TRUE(rank1);
  EXPECT_EQ(signals(*rank1, 2), (std::vector<int>{SIGUSR1, SIGTERM}));
  EXPECT_FALSE(rank0->take_signal());
}

TEST_F(ControlOfTwo, knows_who_ended_badly_after_it_was_told_to_and_does_not_call_it_a_failure) {
  EXPECT_FALSE(control_.first_end_when_told());
  const auto rank0 = link(0);
  ASSERT_TRUE(rank0);
  RankEnd end = failure_of(0);
  end.was_told = true;
  rank0->report(end);
  EXPECT_FALSE(control_.first_failure());
  ASSERT_TRUE(control_.first_end_when_told());
  EXPECT_EQ(control_.first_end_when_told()->exit_code, 137);
}

TEST_F(ControlOfTwo, waits_for_the_ranks_that_have_come) {
  EXPECT_TRUE(control_.await_ranks(0ms));
  EXPECT_FALSE(control_.has_ranks());
  const auto rank0 = link(0);
  const auto rank1 = link(1);
  ASSERT_TRUE(rank0 && rank1);
  rank0->report({});
  EXPECT_FALSE(control_.first_failure()) << "it ended with 0";
  EXPECT_TRUE(control_.has_ranks());
  const std::clock_t before = std::clock();
  EXPECT_FALSE(control_.await_ranks(500ms));
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 10) << "it leaves the time to the ranks";
  rank1->report(failure_of(1));
  EXPECT_TRUE(control_.await_ranks(10s));
}

TEST_F(ControlOfTwo, counts_the_ranks_of_each_host) {
  EXPECT_TRUE(control_.words_of_hosts().empty());
  const auto rank0 = link(0);
  const auto rank1 = link(1);
  rank1->report(failure_of(1));
  const std::vector<HostWords> words = control_.words_of_hosts();
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].host, own_hostname());
  EXPECT_EQ(words[0].begun, 2);
  EXPECT_EQ(words[0].ended, 1);
}

TEST_F(ControlOfTwo, hears_of_signs_when_it_asks) {
  const auto has_signs = [&] {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!control_.has_new_signs()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  };
  const auto rank0 = link(0);
  const auto rank1 = link(1);
  ASSERT_TRUE(rank0 && rank1);
  rank1->note_sign();
  rank1->note_sign();
  EXPECT_FALSE(control_.has_new_signs());
  control_.ask_for_signs();
  EXPECT_TRUE(has_signs());
  control_.ask_for_signs();
  control_.send(SIGUSR1);  // once both have it, the question was handled
  EXPECT_EQ(signals(*rank0, 1), std::vector<int>{SIGUSR1});
  EXPECT_EQ(signals(*rank1, 1), std::vector<int>{SIGUSR1});
  EXPECT_FALSE(control_.has_new_signs());
  rank0->note_sign();
  control_.ask_for_signs();
  EXPECT_TRUE(has_signs());
}

TEST_F(ControlOfTwo, knows_when_each_rank_has_written_its_stacks_or_ended) {
  const auto rank0 = link(0);
  const auto rank1 = link(1);
  ASSERT_TRUE(rank0 && rank1);
  control_.send(kStacksOrder);
  EXPECT_EQ(signals(*rank1, 1), std::vector<int>{kStacksOrder});
  EXPECT_FALSE(control_.are_stacks_written());
  rank1->tell_stacks_are_written();
  rank1->report({});
  EXPECT_FALSE(control_.are_stacks_written()) << "a rank counts once";
  rank0->report({});
  EXPECT_TRUE(control_.are_stacks_written());
}

TEST_F(ControlOfTwo, is_not_for_a_rank_with_another_secret_or_without_a_place) {
  Handover other = handover_;
  other.secret = std::string(64, '0');
  test::expect_error(
      ErrorCode::exchange_failed,
      [&] { ControlLink::open(Env(control_.variables()), other, 1, 300ms); }, "rank 1 on ",
      "127.0.0.1", "HPCBOOT_INTERFACE");
  EXPECT_FALSE(ControlLink::open(Env(), handover_, 1, 300ms));
  for (const char* value : {"", "0 127.0.0.1", "70000 127.0.0.1", "x 127.0.0.1", "20000"}) {
    const Env env(std::map<std::string, std::string>{{kControlVariable, value}});
    EXPECT_FALSE(ControlLink::open(env, handover_, 1, 300ms)) << value;
  }
}

TEST(Control, ends_at_once_though_ranks_still_listen) {
  const Handover handover = rendezvous::fresh_handover(1, {"127.0.0.1"});
  auto control = std::make_unique<Control>(handover, "127.0.0.1");
  const auto rank = ControlLink::open(Env(control->variables()), handover, 0, 10s);
  ASSERT_TRUE(rank);
  control.reset();
  EXPECT_FALSE(rank->is_lost());
  pollfd entry{rank->fd(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 20000), 1);
  EXPECT_TRUE(rank->is_lost());
  rank->report({});  // not received by anyone, and nothing is thrown
  EXPECT_FALSE(rank->take_signal());
}

// Programs may log their environment.
TEST(Control, tells_its_place_without_the_secret) {
  const Handover handover = rendezvous::fresh_handover(1, {"127.0.0.1"});
  const Control control(handover, "127.0.0.1");
  for (const auto& [name, value] : control.variables())
    EXPECT_EQ(value.find(handover.secret), std::string::npos) << name;
}

}  // namespace
}  // namespace hpcboot::run
