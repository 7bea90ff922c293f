// The parts of a profile that need no LibTorch: schedule, summary, tables and trace files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>

#include "hpcboot/error.hpp"
#include "json/bounded_json.hpp"
#include "profile/intervals.hpp"
#include "profile/key_averages.hpp"
#include "profile/profile_schedule.hpp"
#include "profile/rank_summary.hpp"
#include "profile/time_summary.hpp"
#include "profile/trace_file.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
namespace fs = std::filesystem;

constexpr std::int64_t kMilli = 1'000'000;
constexpr std::int64_t kBase = 1'800'000'000'000'000'000;  // an epoch time of 2027

TraceEvent event(std::string name, EventKind kind, std::int64_t begin, std::int64_t duration,
                 std::int64_t lane = 1, int device = -1) {
  TraceEvent result;
  result.name = std::move(name);
  result.kind = kind;
  result.begin = kBase + begin * kMilli;
  result.duration = duration * kMilli;
  result.lane = lane;
  result.device = device;
  return result;
}

/// A step of 100 ms on a CPU: 5 data, 30 forward, 50 backward of which 20 wait, 10 optimizer, 5
/// nothing.
Recording step_on_cpu() {
  Recording recording;
  recording.events = {event("ProfilerStep#3", EventKind::range, 0, 100),
                      event(kDataWait, EventKind::range, 0, 5),
                      event(kForward, EventKind::range, 5, 30),
                      event("aten::mm", EventKind::operation, 6, 20),
                      event("aten::empty", EventKind::operation, 7, 2),
                      event(kBackward, EventKind::range, 35, 50),
                      event("aten::mm", EventKind::operation, 36, 10),
                      event("gloo:all_reduce", EventKind::collective, 40, 45),
                      event("gloo:all_reduce", EventKind::collective, 50, 35),
                      event("wait for ranks", EventKind::wait, 65, 20),
                      event(kOptimizer, EventKind::range, 85, 10)};
  recording.events[3].flops = 3'000'000;
  recording.events[3].shapes = {{2, 3}, {3, 4}};
  recording.events[3].types = {"float", "float"};
  recording.events[6].flops = 1'000'000;
  recording.memory = {{kBase + 7 * kMilli, 1024, -1}, {kBase + 60 * kMilli, -512, -1}};
  return recording;
}

Json trace(const fs::path& path) {
  return parse_json(test::read_text(path));
}

/// Writes the trace of one rank, by its own start. @return what it contains
TraceSize write_trace(const fs::path& path, const TraceOrigin& origin, const Recording& recording,
                      std::int64_t most_bytes) {
  TraceSize size;
  const std::int64_t base = begin_of(recording) - origin.clock_ahead;
  TraceFile file(path, origin, base);
  file.add(trace_events(origin, recording, base, most_bytes, size));
  file.commit(size.dropped);
  return size;
}

std::vector<Json> events_named(const Json& trace, const std::string& name) {
  std::vector<Json> found;
  for (const Json& one : trace["traceEvents"]) {
    if (one["name"] == name) found.push_back(one);
  }
  return found;
}

TEST(ProfileSchedule, IsReadAndWritten) {
  const ProfileSchedule schedule = parse_profile_schedule("active=5,wait=2");
  EXPECT_EQ(text_of(schedule), "wait=2,warmup=1,active=5,repeat=1");
  EXPECT_EQ(text_of(parse_profile_schedule("")), "wait=1,warmup=1,active=2,repeat=1");
  EXPECT_EQ(text_of(parse_profile_schedule(text_of(schedule))), text_of(schedule));
}

TEST(ProfileSchedule, NamesWhatIsWrong) {
  for (const auto& [text, words] : std::map<std::string, std::string>{
           {"actve=2", "'actve=2'"},
           {"active", "'active'"},
           {"active=", "active="},
           {"active=2x", "active=2x"},
           {"wait=-1", "wait=-1"},
           {"active=0", "active=0"},
           {"active=1001", "repeat"},
           {"wait=99999999999999999999", "wait=99999999999999999999"},
           {",", "''"},
           {"active=2,", "''"},
           {"wait=1,wait=2", "wait twice"}}) {
    try {
      parse_profile_schedule(text);
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr(words)) << text;
    }
  }
}

/// A letter for each step: -: off, w: warm-up, a: active; in upper case at the ends of a part.
std::string steps_of(const ProfileSchedule& schedule, int steps) {
  std::string text;
  for (int step = 0; step < steps; ++step) {
    const ProfileStep now = profile_step(schedule, step);
    if (now.phase == ProfilePhase::off) text += '-';
    if (now.phase == ProfilePhase::warmup) text += now.begins_part || now.ends_part ? 'W' : 'w';
    if (now.phase == ProfilePhase::active) text += now.begins_part || now.ends_part ? 'A' : 'a';
  }
  return text;
}

TEST(ProfileSchedule, IsThatOfPyTorch) {
  EXPECT_EQ(steps_of({1, 1, 2, 1}, 8), "-WAA----");
  EXPECT_EQ(steps_of({2, 3, 3, 2}, 20), "--WwWAaA--WwWAaA----");
  EXPECT_EQ(steps_of({0, 0, 1, 0}, 4), "AAAA");
  EXPECT_EQ(steps_of({0, 2, 1, 0}, 6), "WWAWWA");
  EXPECT_EQ(profile_step({1, 1, 2, 0}, 10).cycle, 3);
}

TEST(Intervals, AreASetOfTimes) {
  const Intervals some({{5, 7}, {1, 3}, {2, 4}, {9, 9}});
  EXPECT_THAT(some.parts(), ElementsAre(Pair(1, 4), Pair(5, 7)));
  EXPECT_EQ(some.length(), 5);
  const Intervals other({{0, 2}, {3, 6}, {8, 9}});
  EXPECT_THAT(some.within(other).parts(), ElementsAre(Pair(1, 2), Pair(3, 4), Pair(5, 6)));
  EXPECT_THAT(some.without(other).parts(), ElementsAre(Pair(2, 3), Pair(6, 7)));
  EXPECT_THAT(other.without(some).parts(), ElementsAre(Pair(0, 1), Pair(4, 5), Pair(8, 9)));
  EXPECT_THAT(some.united_with(other).parts(), ElementsAre(Pair(0, 7), Pair(8, 9)));
  EXPECT_EQ(Intervals().without(some).length(), 0);
  EXPECT_EQ(some.without(Intervals()).length(), 5);
}

TEST(TimeSummary, CountsEachMomentOnce) {
  const TimeSummary time = summarise(step_on_cpu());
  EXPECT_EQ(time.steps, 1);
  EXPECT_EQ(time.total, 100 * kMilli);
  EXPECT_EQ(time.compute, 70 * kMilli);
  EXPECT_EQ(time.communication, 20 * kMilli);
  EXPECT_EQ(time.data, 5 * kMilli);
  EXPECT_EQ(time.idle, 5 * kMilli);
}

TEST(TimeSummary, LooksAtTheKernelsOfAGpu) {
  Recording recording;
  recording.events = {event("ProfilerStep#1", EventKind::range, 0, 100),
                      event(kForward, EventKind::range, 0, 1),
                      event("gemm", EventKind::kernel, 10, 40, 7, 0),
                      event("ncclDevKernel_AllReduce", EventKind::kernel, 40, 30, 8, 0),
                      event("Memcpy HtoD (Pageable -> Device)", EventKind::copy, 80, 5, 7, 0),
                      event("Memset (Device)", EventKind::copy, 75, 5, 7, 0),
                      event("gemm", EventKind::kernel, 90, 20, 7, 0)};
  const TimeSummary time = summarise(recording);
  EXPECT_EQ(time.total, 100 * kMilli);
  EXPECT_EQ(time.compute, 55 * kMilli) << "the last kernel ends after the step";
  EXPECT_EQ(time.communication, 20 * kMilli) << "what the kernels do not hide";
  EXPECT_EQ(time.data, 5 * kMilli);
  EXPECT_EQ(time.idle, 20 * kMilli);
}

TEST(TimeSummary, OfNothingIsNothing) {
  const TimeSummary time = summarise({});
  EXPECT_EQ(time.total, 0);
  EXPECT_EQ(time.idle, 0);
  EXPECT_THAT(rank_summary_table({{}}).str(), HasSubstr("–"));
}

TEST(KeyAverages, SelfTimeIsWithoutWhatWasCalled) {
  const Recording recording = sorted(step_on_cpu());
  std::map<std::string, KeyAverage> averages;
  for (const KeyAverage& one : key_averages(recording)) averages[one.name] = one;
  EXPECT_EQ(averages["aten::mm"].calls, 2);
  EXPECT_EQ(averages["aten::mm"].total, 30 * kMilli);
  EXPECT_EQ(averages["aten::mm"].self, 28 * kMilli);
  EXPECT_EQ(averages["aten::mm"].flops, 4'000'000U);
  EXPECT_EQ(averages["forward"].self, 10 * kMilli);
  EXPECT_EQ(averages["ProfilerStep#3"].self, 5 * kMilli);
  EXPECT_EQ(averages.count("gloo:all_reduce"), 0U);
}

TEST(KeyAverages, AGpusKernelsCountForTheOperatorThatLaunchedThem) {
  Recording recording;
  recording.events = {event("aten::mm", EventKind::operation, 0, 1),
                      event("aten::add", EventKind::operation, 1, 5),
                      event("gemm", EventKind::kernel, 2, 40, 7, 0)};
  recording.events[0].correlation = 11;
  recording.events[1].correlation = 12;
  recording.events[2].correlation = 11;
  const std::vector<KeyAverage> averages = key_averages(recording);
  EXPECT_EQ(averages[0].name, "aten::mm");
  EXPECT_EQ(averages[0].gpu, 40 * kMilli);
  EXPECT_THAT(key_averages_table(averages, 5).str(), HasSubstr("GPU ms"));
}

TEST(KeyAverages, TableFits80ColumnsAndStartsWithTheLongest) {
  Recording recording = step_on_cpu();
  recording.events.push_back(
      event("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
            EventKind::operation, 200, 1000));
  recording = sorted(std::move(recording));
  const std::string table = key_averages_table(key_averages(recording), 3).str();
  std::istringstream lines(table);
  std::string line;
  std::vector<std::string> all;
  while (std::getline(lines, line)) all.push_back(line);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_THAT(all[1], HasSubstr("AccumulateGrad"));
  for (const std::string& one : all) EXPECT_LE(one.size(), 82U) << one;  // bytes
}

TEST(KeyAverages, CsvHasNoFormulas) {
  Recording recording;
  recording.events = {event("=cmd(\"x\"),1", EventKind::operation, 0, 1)};
  EXPECT_THAT(key_averages_csv(key_averages(recording)), HasSubstr("\"'=cmd(\"\"x\"\"),1\",1,"));
}

TEST(TraceFile, HasEventsWithShapesMemoryAndOperations) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "t.json";
  const Recording recording = sorted(step_on_cpu());
  const TraceSize size = write_trace(path, {1, 2, "n1", "gloo", 0}, recording, 1 << 20);
  EXPECT_EQ(size.events, 13);
  EXPECT_EQ(size.dropped, 0);
  const Json written = trace(path);
  EXPECT_EQ(written["distributedInfo"]["rank"], 1);
  const Json mm = events_named(written, "aten::mm").at(0);
  EXPECT_EQ(mm["ts"], 6000.0);
  EXPECT_EQ(mm["dur"], 20000.0);
  EXPECT_EQ(mm["args"]["Input Dims"], Json::parse("[[2,3],[3,4]]"));
  EXPECT_EQ(mm["args"]["flops"], 3'000'000);
  const auto memory = events_named(written, "memory allocated since the start of the trace");
  ASSERT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory[1]["args"]["bytes"], 512);
  EXPECT_EQ(events_named(written, "process_name").at(0)["args"]["name"], "rank 1 (n1, CPU)");
}

TEST(TraceFile, CollectivesThatOverlapAreOnDifferentThreads) {
  const test::TemporaryFolder folder;
  const Recording recording = sorted(step_on_cpu());
  write_trace(folder.path() / "t.json", {}, recording, 1 << 20);
  const auto both = events_named(trace(folder.path() / "t.json"), "gloo:all_reduce");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_NE(both[0]["tid"], both[1]["tid"]);
}

// LibTorch's numbers differ, depending on the threads that start them.
TEST(TraceFile, CollectivesHaveTheSameNumbersOnAllRanks) {
  const test::TemporaryFolder folder;
  const auto numbers = [&](std::uint64_t first, std::uint64_t second) {
    Recording recording = step_on_cpu();
    recording.events[3].correlation = 7;
    recording.events[7].correlation = first;
    recording.events[8].correlation = second;
    recording.events.push_back(event("ncclKernel", EventKind::kernel, 60, 5, 1, 0));
    recording.events.back().correlation = second;  // launched by it
    write_trace(folder.path() / "trace", {}, recording, 1'000'000);
    const Json written = trace(folder.path() / "trace");
    std::vector<std::uint64_t> result;
    for (const Json& one : written["traceEvents"]) {
      if (one["ph"] == "X" && one["args"].contains("External id"))
        result.push_back(one["args"]["External id"]);
    }
    return result;
  };
  const std::vector<std::uint64_t> of_one = numbers(2049, 2561);
  EXPECT_EQ(of_one, numbers(2050, 2049));
  ASSERT_EQ(of_one.size(), 4U);
  EXPECT_EQ(of_one[0], 7U);
  EXPECT_NE(of_one[1], of_one[2]);
  EXPECT_EQ(of_one[3], of_one[2]);
}

TEST(TraceFile, CallsEndBeforeTheirCallers) {
  Recording recording;
  recording.events = {event("inner", EventKind::operation, 5, 6),
                      event("outer", EventKind::operation, 0, 10),
                      event("innermost", EventKind::operation, 6, 9),
                      event("other thread", EventKind::operation, 5, 50, 2)};
  recording = sorted(std::move(recording));
  EXPECT_EQ(recording.events[0].name, "outer");
  for (const TraceEvent& one : recording.events) {
    EXPECT_LE(one.end(), kBase + (one.lane == 1 ? 10 : 55) * kMilli) << one.name;
    if (one.lane == 2) {
      EXPECT_EQ(one.duration, 50 * kMilli);
    }
  }
}

TEST(TraceFile, TextFromOutsideIsEncoded) {
  const test::TemporaryFolder folder;
  Recording recording;
  recording.events = {event("a\"b\n\x1b[31m\xff", EventKind::operation, 0, 1)};
  write_trace(folder.path() / "t.json", {0, 1, "h\"\n", "", 0}, recording, 1 << 20);
  const std::string text = test::read_text(folder.path() / "t.json");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const Json written = parse_json(text);
  EXPECT_EQ(written["traceEvents"].back()["name"], "a\"b\n\x1b[31m\uFFFD");
}

TEST(TraceFile, StaysBelowItsLimitAndIsValid) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "t.json";
  Recording recording;
  for (int i = 0; i < 1000; ++i)
    recording.events.push_back(event("aten::mm", EventKind::operation, i, 1));
  const TraceSize size = write_trace(path, {}, recording, 20'000);
  EXPECT_LT(fs::file_size(path), 20'400U);
  EXPECT_EQ(size.events + size.dropped, 1000);
  EXPECT_GT(size.events, 100);
  const Json written = trace(path);
  EXPECT_EQ(written["droppedEvents"], size.dropped);
  EXPECT_EQ(events_named(written, "aten::mm").back()["ts"],
            static_cast<double>(size.events - 1) * 1000)
      << "the earliest ones are kept";
}

TEST(TraceFile, OfAnEmptyRecordingIsValid) {
  const test::TemporaryFolder folder;
  write_trace(folder.path() / "t.json", {}, {}, 1000);
  EXPECT_EQ(trace(folder.path() / "t.json")["droppedEvents"], 0);
}

TEST(TraceFile, ShowsSeveralRanksByOneClock) {
  const test::TemporaryFolder folder;
  const Recording first = sorted(step_on_cpu());
  constexpr std::int64_t kAhead = 5000 * kMilli;
  Recording second = first;  // by a clock that is 5 s ahead, 2 ms later
  for (TraceEvent& one : second.events) one.begin += kAhead + 2 * kMilli;
  for (MemoryChange& one : second.memory) one.time += kAhead + 2 * kMilli;
  TraceSize size;
  TraceFile merged(folder.path() / "m.json", std::nullopt, kBase);
  merged.add(trace_events({0, 2, "n1", "gloo", 0}, first, kBase, 1 << 20, size));
  merged.add("");
  merged.add(trace_events({1, 2, "n2", "gloo", kAhead}, second, kBase, 1 << 20, size));
  merged.commit(0);
  const Json written = trace(folder.path() / "m.json");
  const auto steps = events_named(written, "ProfilerStep#3");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0]["ts"], 0.0);
  EXPECT_EQ(steps[1]["ts"], 2000.0);
  EXPECT_NE(steps[0]["pid"], steps[1]["pid"]);
  EXPECT_NE(steps[0]["tid"], steps[1]["tid"]) << "TensorBoard looks at threads only";
  EXPECT_EQ(events_named(written, "process_name").size(), 2U);
}

TEST(RankSummary, TellsRankZeroEverything) {
  RankSummary summary;
  summary.host = "n1\x1b";
  summary.begin = kBase;
  summary.time = summarise(step_on_cpu());
  summary.size = {5, 6};
  const RankSummary read = rank_summary_from_json(to_json(summary), "test");
  EXPECT_EQ(read.host, summary.host);
  EXPECT_EQ(read.begin, kBase);
  EXPECT_EQ(read.time.compute, 70 * kMilli);
  EXPECT_EQ(read.size.dropped, 6);
  const std::string table = rank_summary_table({read, read}).str();
  EXPECT_THAT(table, HasSubstr("70.0"));
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  EXPECT_THAT(rank_summary_csv({read}), HasSubstr("0.070000000,0.020000000,0.005000000"));
}

TEST(RankSummary, OfManyRanksShowsTheSlowest) {
  std::vector<RankSummary> ranks(100);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank].time = {1, 100, static_cast<std::int64_t>(rank == 77 ? 90 : 50), 0, 0, 0};
  }
  const std::string table = rank_summary_table(ranks).str();
  EXPECT_THAT(table, HasSubstr("16 of 100"));
  EXPECT_LT(table.find("77"), table.find("\n   0 "));
}

}  // namespace
}  // namespace hpcboot::profile
