#include "jobs/run/ranks/output_lines.hpp"

#include <gmock/gmock.h>

#include "jobs/run/agents/console.hpp"

namespace {

using hpcboot::run::LastLines;
using hpcboot::run::OutputLines;
using testing::ElementsAre;
using Time = OutputLines::Clock::time_point;

OutputLines two() {
  return OutputLines({{0, "[0 a] "}, {1, "[1 b] "}});
}

TEST(OutputLines, GivesWholeLinesOnlyEachWithItsPrefix) {
  OutputLines lines = two();
  EXPECT_EQ(lines.take(0, "on", Time{}), "");
  EXPECT_EQ(lines.take(1, "two\n\n", Time{}), "[1 b] two\n[1 b] \n");
  EXPECT_EQ(lines.take(0, "e\nthr", Time{}), "[0 a] one\n");
  EXPECT_EQ(lines.finish(0), "[0 a] thr");
  EXPECT_EQ(lines.take(1, "x\n", Time{}), "\n[1 b] x\n");
}

TEST(OutputLines, ShowsALineThatWaitsAndGoesOnWithItWhereNobodyCameBetween) {
  OutputLines lines = two();
  EXPECT_FALSE(lines.next_time());
  lines.take(0, "name? ", Time{});
  EXPECT_EQ(lines.next_time(), Time{} + OutputLines::kPatience);
  EXPECT_EQ(lines.show_waiting(Time{} + std::chrono::milliseconds(100)), "");
  EXPECT_EQ(lines.show_waiting(Time{} + std::chrono::milliseconds(200)), "[0 a] name? ");
  EXPECT_FALSE(lines.next_time());
  EXPECT_EQ(lines.take(0, "yes\n", Time{}), "yes\n");
  lines.take(0, "name? ", Time{});
  lines.show_waiting(Time::max());
  EXPECT_EQ(lines.take(1, "x\n", Time{}), "\n[1 b] x\n");
  EXPECT_EQ(lines.take(0, "no\n", Time{}), "[0 a] no\n");
}

TEST(OutputLines, ShowsAProgressBarHoweverOftenItIsWritten) {
  for (const bool has_prefix : {false, true}) {
    OutputLines lines = has_prefix ? two() : OutputLines({});
    const std::string prefix = has_prefix ? "[0 a] " : "";
    Time now{};
    std::string out;
    for (int i = 0; i < 5; ++i) {
      out += lines.take(0, "step " + std::to_string(i) + "\r", now);
      EXPECT_EQ(lines.next_time(),
                now + OutputLines::kPatience - std::chrono::milliseconds(i % 2) * 100);
      now += std::chrono::milliseconds(100);
      out += lines.show_waiting(now);
    }
    EXPECT_EQ(out,
              prefix + "step 0\r" + prefix + "step 1\r" + prefix + "step 2\r" + prefix + "step 3");
    out += lines.show_waiting(now + OutputLines::kPatience);
    EXPECT_FALSE(lines.next_time()) << "nothing that a reader could see waits";
    // "\r\n" stays whole, and ends the line that has its prefix.
    out += lines.take(0, "\nend\r\n", now);
    EXPECT_EQ(out.substr(out.rfind("step")), "step 4\r\n" + prefix + "end\r\n");
  }
}

TEST(OutputLines, MayWaitForTheEndsOfLinesHoweverLong) {
  OutputLines lines({}, true);
  EXPECT_EQ(lines.take(0, "one\ntw", Time{}), "one\n");
  EXPECT_FALSE(lines.next_time());
  EXPECT_EQ(lines.show_waiting(Time::max()), "");
  EXPECT_EQ(lines.take(1, "x\n", Time{}), "x\n");
  EXPECT_EQ(lines.take(0, "o\nthree", Time{}), "two\n");
  EXPECT_EQ(lines.take(0, std::string(OutputLines::kLongest, 'y'), Time{}),
            "three" + std::string(OutputLines::kLongest, 'y'));
  lines.take(1, "end", Time{});
  EXPECT_EQ(lines.finish(1), "\nend");
}

// Whether it ends its text by the carriage return or begins it so.
TEST(OutputLines, ShowsAProgressBarWhileItWaitsForTheEndsOfLines) {
  OutputLines lines({}, true);
  EXPECT_EQ(lines.take(0, "10%\r20", Time{}), "");
  EXPECT_EQ(lines.next_time(), Time{} + OutputLines::kPatience);
  EXPECT_EQ(lines.show_waiting(Time{} + OutputLines::kPatience), "10%");
  EXPECT_FALSE(lines.next_time());
  EXPECT_EQ(lines.take(0, "%\r", Time{}), "");
  EXPECT_EQ(lines.show_waiting(Time::max()), "\r20%");
  EXPECT_EQ(lines.take(0, "\n", Time{}), "\r\n");
}

TEST(OutputLines, ShowsALongLineInPartsAndChangesNoByteWithoutPrefixes) {
  OutputLines lines({});
  const std::string bytes = std::string(3 * OutputLines::kLongest, 'x') + "\0\n\x1b" + "y";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 1000)
    out += lines.take(0, std::string_view(bytes).substr(i, 1000), Time{});
  EXPECT_GE(out.size(), bytes.size() - OutputLines::kLongest);
  EXPECT_EQ(out + lines.finish(0), bytes);
}

TEST(RankPrefixes, HaveOneWidth) {
  hpcboot::run::Layout layout;
  layout.hosts = {{"n1", 9}, {"gpu\x1b", 2}};
  const auto prefixes = hpcboot::run::rank_prefixes(layout);
  ASSERT_EQ(prefixes.size(), 11U);
  EXPECT_EQ(prefixes[0], "[ 0 n1]      ");
  EXPECT_EQ(prefixes[10], "[10 gpu\\x1b] ");
}

TEST(LastLines, AreTheLastTenAsATerminalShowsThem) {
  LastLines last;
  EXPECT_THAT(last.lines(), ElementsAre());
  for (int i = 0; i < 20000; ++i) last.take("line " + std::to_string(i) + "\n");
  last.take("10%\r20%\r\nend");
  EXPECT_EQ(last.lines().size(), 10U);
  EXPECT_EQ(last.lines().front(), "line 19992");
  EXPECT_EQ(last.lines()[8], "20%");
  EXPECT_EQ(last.lines().back(), "end");
}

}  // namespace
