#include "jobs/run/ranks/silence.hpp"

#include <gmock/gmock.h>

#include "jobs/run/ranks/debuggers.hpp"

namespace hpcboot::run {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// The program of the ranks is started at 100 s.
class SilenceOf5s : public testing::Test {
 protected:
  static Clock::time_point at(std::chrono::seconds time) { return Clock::time_point(100s + time); }
  // Checks once a second.
  bool is_over_within(std::chrono::seconds from, std::chrono::seconds to) {
    for (auto time = from; time <= to; time += 1s) {
      if (watch_.is_over(at(time))) return true;
    }
    return false;
  }

  SilenceWatch watch_{5s};
};

TEST_F(SilenceOf5s, begins_with_the_first_sign) {
  EXPECT_FALSE(is_over_within(-60s, 0s));
  watch_.note_sign(at(0s));
  EXPECT_FALSE(is_over_within(1s, 4s));
  EXPECT_TRUE(watch_.is_over(at(5s)));
}

TEST_F(SilenceOf5s, begins_anew_with_each_sign) {
  watch_.note_sign(at(0s));
  EXPECT_FALSE(is_over_within(1s, 4s));
  watch_.note_sign(at(4s));
  EXPECT_FALSE(is_over_within(5s, 8s));
  EXPECT_TRUE(watch_.is_over(at(9s)));
}

TEST_F(SilenceOf5s, does_not_count_the_time_in_which_this_process_was_stopped) {
  watch_.note_sign(at(0s));
  EXPECT_FALSE(is_over_within(1s, 2s));
  EXPECT_FALSE(is_over_within(3602s, 3604s));
  EXPECT_TRUE(watch_.is_over(at(3605s)));
}

TEST_F(SilenceOf5s, is_not_noticed_later_for_a_sign_that_came_while_this_process_was_stopped) {
  watch_.note_sign(at(0s));
  EXPECT_FALSE(is_over_within(1s, 2s));
  watch_.note_sign(at(3602s));
  EXPECT_FALSE(is_over_within(3602s, 3606s));
  EXPECT_TRUE(watch_.is_over(at(3607s)));
}

TEST(Silence, is_allowed_unless_somebody_asks) {
  SilenceWatch watch(std::nullopt);
  watch.note_sign(Clock::time_point(1s));
  EXPECT_FALSE(watch.is_over(Clock::time_point(1000000s)));
}

TEST(Silence, ends_a_run_with_a_code_of_its_own) {
  EXPECT_EQ(silence_error(600s).exit_code(), 32);
  EXPECT_EQ(silence_error(600s).found(), "no rank has written anything for 600 s");
}

TEST(Stacks, are_the_threads_and_frames_that_a_debugger_prints) {
  EXPECT_THAT(stack_lines("[New LWP 7]\nusing host libthread_db\n0x00 in pause ()\n\n"
                          "Thread 1 (LWP 6):\n#0  0x00 in pause ()\n#1  0x01 in main ()\n"
                          "[Inferior 1 (process 6) detached]\n",
                          100),
              ElementsAre("Thread 1 (LWP 6):", "#0  0x00 in pause ()", "#1  0x01 in main ()"));
  EXPECT_THAT(stack_lines("PID 6 - process\nTID 6:\n#0  0x00 pause\n", 100),
              ElementsAre("TID 6:", "#0  0x00 pause"));
  EXPECT_THAT(stack_lines("Process 6: python3 x.py\nPython v3.11.2\n\n"
                          "Thread 6 (idle): \"MainThread\"\n    all_reduce (x.py:3)\n",
                          100),
              ElementsAre("Thread 6 (idle): \"MainThread\"", "    all_reduce (x.py:3)"));
}

TEST(Stacks, are_none_where_a_debugger_may_not_look) {
  EXPECT_THAT(stack_lines("ptrace: Operation not permitted.\n", 100), IsEmpty());
  EXPECT_THAT(stack_lines("Thread 1 (LWP 6):\n", 100), IsEmpty());
  EXPECT_THAT(stack_lines("", 100), IsEmpty());
}

TEST(Stacks, are_cut) {
  EXPECT_THAT(stack_lines("#0 a\n#1 b\n#2 c\n", 2), ElementsAre("#0 a", "#1 b", "(truncated)"));
  EXPECT_THAT(stack_lines("#0 a\n#1 b\n", 2), ElementsAre("#0 a", "#1 b"));
}

TEST(Stacks, have_no_lines_longer_than_anybody_reads) {
  const auto lines = stack_lines("#0 " + std::string(4U << 20U, '\1') + "\n#1 main\n", 100);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines.front().substr(0, 5), "#0 \1\1");
  EXPECT_LT(lines.front().size(), 1100U);
  EXPECT_EQ(lines.back(), "#1 main");
}

TEST(Stacks, are_asked_for_without_what_a_rank_has_for_itself_and_without_the_network) {
  const auto env = environment_for_debuggers({{"PATH", "/bin"},
                                              {"LD_PRELOAD", "/lib/x.so"},
                                              {"PYTHONHOME", "/opt/python"},
                                              {"DEBUGINFOD_URLS", "https://example.org"}});
  EXPECT_THAT(env, ElementsAre(testing::Pair("PATH", "/bin")));
}

}  // namespace
}  // namespace hpcboot::run
