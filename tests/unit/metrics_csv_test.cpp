#include "record/metrics_csv.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "support/errors.hpp"
#include "support/file_size_limit.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::record {
namespace {

using test::read_text;
using test::TemporaryFolder;
using test::write_text;
using testing::HasSubstr;

constexpr const char* kHeader =
    "epoch,step,loss,learning_rate,images_per_second,data_wait_seconds,step_seconds,"
    "forward_seconds,backward_seconds,communication_seconds,optimizer_seconds,bytes_reduced\n";

TEST(MetricsCsv, WritesAHeaderAndARowAStep) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  {
    MetricsCsv metrics(path);
    metrics.append({1, 1, 2.302585, 1e-4, 1280.5, 0.001, 0.05});
    metrics.append({1, 2, 1.5, 1e-4, 1300.0, 0.0, 0.049, 0.01, 0.02, 0.003, 0.004, 4096});
  }
  EXPECT_EQ(read_text(path), std::string(kHeader) +
                                 "1,1,2.302585,0.0001,1280.5,0.001,0.05,0,0,0,0,0\n"
                                 "1,2,1.5,0.0001,1300,0,0.049,0.01,0.02,0.003,0.004,4096\n");
}

TEST(MetricsCsv, ANumberThatIsNotFiniteIsEmpty) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  const double infinity = std::numeric_limits<double>::infinity();
  MetricsCsv metrics(path);
  metrics.append({1, 1, std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 0.0, 1.0});
  metrics.flush();
  EXPECT_EQ(read_text(path), std::string(kHeader) + "1,1,,,,0,1,0,0,0,0,0\n");
}

TEST(MetricsCsv, ARowDoesNotWaitForTheDiskUnlessFlushed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  MetricsCsv metrics(path);
  metrics.append({1, 1, 1.0, 1.0, 1.0, 1.0, 1.0});
  EXPECT_EQ(read_text(path), "");
  metrics.flush();
  EXPECT_EQ(read_text(path), std::string(kHeader) + "1,1,1,1,1,1,1,0,0,0,0,0\n");
}

TEST(MetricsCsv, TheLastStepIsThatOfTheLastWholeRow) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  EXPECT_EQ(MetricsCsv::last_step(path), std::nullopt);
  write_text(path, kHeader);
  EXPECT_EQ(MetricsCsv::last_step(path), std::nullopt);
  write_text(path,
             std::string(kHeader) + "1,1,1,1,1,1,1,0,0,0,0,0\n1,2,1,1,1,1,1,0,0,0,0,0\n1,3,0.");
  EXPECT_EQ(MetricsCsv::last_step(path), 2);
}

TEST(MetricsCsv, AResumedRunGoesOnAfterTheLastWholeLine) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  write_text(path, std::string(kHeader) + "1,1,1,1,1,1,1,0,0,0,0,0\n1,2,0.");
  { MetricsCsv(path).append({1, 2, 0.5, 1.0, 1.0, 1.0, 1.0}); }
  EXPECT_EQ(read_text(path),
            std::string(kHeader) + "1,1,1,1,1,1,1,0,0,0,0,0\n1,2,0.5,1,1,1,1,0,0,0,0,0\n");
}

TEST(MetricsCsv, AResumedRunDropsTheStepsThatAreDoneAgain) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  const std::string kept =
      std::string(kHeader) + "1,9,1,1,1,1,1,0,0,0,0,0\n1,10,1,1,1,1,1,0,0,0,0,0\n";
  write_text(path, kept + "1,11,1,1,1,1,1,0,0,0,0,0\n1,1");
  { MetricsCsv(path, 10).append({2, 11, 0.5, 1.0, 1.0, 1.0, 1.0}); }
  EXPECT_EQ(read_text(path), kept + "2,11,0.5,1,1,1,1,0,0,0,0,0\n");
  { MetricsCsv(path, 0).flush(); }
  EXPECT_EQ(read_text(path), kHeader);
}

TEST(MetricsCsv, AResumedRunDropsAnEndlessLineWithoutReadingIt) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  const std::string kept = std::string(kHeader) + "1,9,1,1,1,1,1,0,0,0,0,0\n";
  write_text(path, kept);
  constexpr std::uintmax_t kSparse = std::uintmax_t{1} << 40U;  // more than the memory
  std::filesystem::resize_file(path, kSparse);
  EXPECT_EQ(MetricsCsv::last_step(path), 9);
  { MetricsCsv(path).flush(); }
  EXPECT_EQ(read_text(path), kept);
}

TEST(MetricsCsv, AnotherHeaderIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  write_text(path, "a,b,c\n1,2,3\n");
  const auto error = test::error_of([&] { MetricsCsv metrics(path); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::malformed_file);
  EXPECT_THAT(error->found(), HasSubstr("a,b,c"));
  EXPECT_EQ(read_text(path), "a,b,c\n1,2,3\n");
}

TEST(MetricsCsv, AFullDiskIsReported) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  MetricsCsv metrics(path);
  const test::FileSizeLimit full(0);
  const auto error = test::error_of([&] { metrics.flush(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unwritable_output);
  EXPECT_THAT(error->found(), HasSubstr("File too large"));
}

TEST(MetricsCsv, ALinksTargetIsNotCut) {
  const TemporaryFolder folder;
  const auto target = folder.path() / "target.csv";
  { MetricsCsv(target).append({1, 1, 0.5, 1.0, 1.0, 1.0, 1.0}); }
  const std::string text = read_text(target) + "1,2,cut";
  write_text(target, text);
  std::filesystem::create_symlink(target, folder.path() / "metrics.csv");
  const auto error = test::error_of([&] { MetricsCsv metrics(folder.path() / "metrics.csv"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unwritable_output);
  EXPECT_EQ(read_text(target), text);
}

TEST(MetricsCsv, AHeaderThatACrashCutIsWrittenAgain) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  { MetricsCsv(path).flush(); }
  const std::string header = read_text(path);
  write_text(path, header.substr(0, 20));
  EXPECT_EQ(MetricsCsv::last_step(path), std::nullopt);
  { MetricsCsv(path).flush(); }
  EXPECT_EQ(read_text(path), header);
}

TEST(MetricsCsv, ALinkIsNotFollowed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  std::filesystem::create_symlink(folder.path() / "elsewhere", path);
  const auto error = test::error_of([&] { MetricsCsv metrics(path); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unwritable_output);
  EXPECT_THAT(error->found(), HasSubstr("a symbolic link"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "elsewhere"));
}

}  // namespace
}  // namespace hpcboot::record
