#include "record/run_folder.hpp"

#include <gmock/gmock.h>

#include <set>
#include <thread>
#include <vector>

#include "record/utc_time.hpp"
#include "support/errors.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::record {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using testing::HasSubstr;

// 2026-11-20T23:59:01Z
const std::chrono::system_clock::time_point kStarted{std::chrono::seconds{1795219141}};

TEST(UtcTime, BothFormsTellTheSameMoment) {
  EXPECT_EQ(iso8601_utc(kStarted), "2026-11-20T23:59:01Z");
  EXPECT_EQ(folder_timestamp(kStarted), "20261120_235901");
  EXPECT_EQ(iso8601_utc(kStarted + std::chrono::milliseconds(999)), "2026-11-20T23:59:01Z");
  EXPECT_EQ(iso8601_utc({}), "1970-01-01T00:00:00Z");
}

TEST(UtcTime, TheFormIsChecked) {
  EXPECT_TRUE(is_iso8601_utc(iso8601_utc(kStarted)));
  for (const char* wrong : {"", "2026-11-20", "2026-11-20 23:59:01Z", "2026-11-20T23:59:01",
                            "2026-13-20T23:59:01Z", "2026-11-00T23:59:01Z", "2026-11-20T24:59:01Z",
                            "2026-11-20T23:60:01Z", "2026-11-20T23:59:61Z", "2O26-11-20T23:59:01Z",
                            "-026-11-20T23:59:01Z", "2026-11-20T23:59:01Z "}) {
    EXPECT_FALSE(is_iso8601_utc(wrong)) << wrong;
  }
}

TEST(RunFolder, PartsOfANameAreSanitised) {
  const std::pair<const char*, const char*> cases[] = {
      {"1234", "1234"},
      {"1234_5", "1234_5"},
      {"20[2].pbs", "20-2-.pbs"},
      {"my comment!", "my-comment"},
      {"a / b", "a-b"},
      {"../../etc/passwd", "etc-passwd"},
      {"..", ""},
      {".hidden", "hidden"},
      {"Größe", "Gr-e"},
      {"\n\t", ""},
      {"", ""},
      {"v1.2_x-y", "v1.2_x-y"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(sanitize_for_name(text), expected) << text;
  EXPECT_EQ(sanitize_for_name(std::string(1000, 'x')).size(), 80U);
}

TEST(RunFolder, NamesFollowTheContract) {
  const std::pair<RunName, const char*> cases[] = {
      {{kStarted, "ddp", 2, 4, "1234", "my comment"}, "20261120_235901_ddp_2x4_1234_my-comment"},
      {{kStarted, "ddp", 2, 4, "20[2].pbs", ""}, "20261120_235901_ddp_2x4_20-2-.pbs"},
      {{kStarted, "single", 1, 1, "", "try"}, "20261120_235901_single_1x1_try"},
      {{kStarted, "dp", 1, 8, "", "!!!"}, "20261120_235901_dp_1x8"},
  };
  for (const auto& [name, expected] : cases) EXPECT_EQ(folder_name(name), expected);
}

TEST(RunFolder, KnowsItsPlaces) {
  const RunFolder folder("runs/x");
  EXPECT_EQ(folder.name(), "x");
  EXPECT_EQ(folder.run_json(), "runs/x/run.json");
  EXPECT_EQ(folder.log(0), "runs/x/rank_00.log");
  EXPECT_EQ(folder.log(127), "runs/x/rank_127.log");
  EXPECT_EQ(folder.metrics_csv(), "runs/x/metrics.csv");
  EXPECT_EQ(folder.model(), "runs/x/model.safetensors");
  EXPECT_EQ(folder.checkpoints(), "runs/x/checkpoints");
}

TEST(RunFolder, MakesTheRunsFolderToo) {
  const TemporaryFolder temporary;
  const RunFolder folder = RunFolder::create(temporary.path() / "a" / "runs", {kStarted, "ddp"});
  EXPECT_TRUE(fs::is_directory(folder.path()));
  EXPECT_EQ(folder.path(), temporary.path() / "a" / "runs" / "20261120_235901_ddp_1x1");
  RunFolder::create(temporary.path() / "b" / "runs" / "", {kStarted, "ddp"});
  EXPECT_TRUE(fs::is_directory(temporary.path() / "b" / "runs" / "20261120_235901_ddp_1x1"));
}

TEST(RunFolder, RunsOfTheSameSecondNeverShareAFolder) {
  const TemporaryFolder temporary;
  constexpr int kThreads = 8;
  constexpr int kRunsEach = 20;
  std::vector<std::vector<std::string>> names(kThreads);
  std::vector<std::thread> threads;
  for (auto& own : names) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRunsEach; ++i) {
        own.push_back(RunFolder::create(temporary.path(), {kStarted, "ddp"}).name());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& own : names) all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), std::size_t{kThreads * kRunsEach});
  EXPECT_TRUE(all.count("20261120_235901_ddp_1x1"));
  EXPECT_TRUE(all.count("20261120_235901_ddp_1x1_2"));
  EXPECT_TRUE(all.count("20261120_235901_ddp_1x1_160"));
}

TEST(RunFolder, ARunsDirThatIsAFileIsNamed) {
  const TemporaryFolder temporary;
  test::write_text(temporary.path() / "runs", "");
  const auto error = test::error_of([&] {
    RunFolder::create(temporary.path() / "runs", {kStarted, "ddp"});
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unwritable_output);
  EXPECT_THAT(error->found(), HasSubstr((temporary.path() / "runs").string()));
  EXPECT_THAT(error->remedy(), HasSubstr("--runs-dir"));
}

TEST(RunFolder, ARunsDirWithoutPermissionIsNamed) {
  const TemporaryFolder temporary;
  fs::permissions(temporary.path(), fs::perms{0555});
  const test::WithoutRoot user;
  if (!user.bound()) GTEST_SKIP() << "root cannot become another user here";
  for (const fs::path& runs_dir : {temporary.path(), temporary.path() / "runs"}) {
    const auto error = test::error_of([&] { RunFolder::create(runs_dir, {kStarted, "ddp"}); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::unwritable_output);
    EXPECT_THAT(error->found(), HasSubstr(runs_dir.string()));
    EXPECT_THAT(error->found(), HasSubstr("Permission denied"));
  }
}

}  // namespace
}  // namespace hpcboot::record
