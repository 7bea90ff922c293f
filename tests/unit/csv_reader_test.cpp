// CSV files by the names of their columns, and their ends while they grow.
#include "record/csv_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <streambuf>

#include "record/metrics_csv.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::record {
namespace {

std::filesystem::path written(const test::TemporaryFolder& folder, const std::string& text) {
  const auto file = folder.path() / "rows.csv";
  std::ofstream(file) << text;
  return file;
}

TEST(CsvReader, FieldsAreFoundByNameAndNumbersAreFinite) {
  std::istringstream in("b,a\n1,x\n\"2,\"\"\",y\nnan,z\ntoo,many,fields\ncut");
  CsvReader reader(in);
  EXPECT_TRUE(reader.has("a"));
  EXPECT_FALSE(reader.has("c"));
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.text("a"), "x");
  EXPECT_EQ(reader.number<int>("b"), 1);
  EXPECT_EQ(reader.text("c"), "");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.text("b"), "2,\"");
  EXPECT_EQ(reader.number<double>("b"), std::nullopt);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.number<double>("b"), std::nullopt);
  EXPECT_FALSE(reader.next());
}

/// A text, and then zeros, as a file of this size has that was extended and not written.
class SparseFile : public std::streambuf {
 public:
  SparseFile(std::string text, std::int64_t size) : block_(std::move(text)), left_(size) {
    setg(block_.data(), block_.data(), block_.data() + block_.size());
  }
  std::int64_t left() const { return left_; }

 private:
  int_type underflow() override {
    if (left_ == 0) return traits_type::eof();
    block_.assign(static_cast<std::size_t>(std::min<std::int64_t>(left_, 1 << 16)), '\0');
    left_ -= static_cast<std::int64_t>(block_.size());
    setg(block_.data(), block_.data(), block_.data() + block_.size());
    return 0;
  }

  std::string block_;
  std::int64_t left_;
};

TEST(CsvReader, LinesThatAreTooLongAreSkipped) {
  const std::string longest(65534, 'x');
  std::istringstream in("a,b\n1,2\n1," + longest + "x\n3," + longest + "\n" +
                        std::string(1 << 20, '\0') + "\n5,6");
  CsvReader reader(in);
  std::string rows;
  while (reader.next()) rows += reader.text("a");
  EXPECT_EQ(rows, "135");
}

TEST(CsvReader, AnEndlessLineIsNeitherHeldNorReadToItsEnd) {
  constexpr std::int64_t kSize = std::int64_t{1} << 29U;
  SparseFile file("a,b\n1,2\n", kSize);
  std::istream in(&file);
  CsvReader reader(in);
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_GT(file.left(), kSize * 3 / 4);

  SparseFile header("a,b", kSize);
  std::istream other(&header);
  EXPECT_FALSE(CsvReader(other).has("a"));
  EXPECT_GT(header.left(), kSize * 3 / 4);
}

TEST(CsvReader, ATailHasTheHeaderAndWholeRows) {
  const test::TemporaryFolder folder;
  const auto file = written(folder, "a,b\n1,2\n3,4\n5,6\n7");
  EXPECT_EQ(csv_tail(file, 1000), "a,b\n1,2\n3,4\n5,6\n");
  EXPECT_EQ(csv_tail(file, 5), "a,b\n5,6\n");  // exactly from the beginning of a row
  EXPECT_EQ(csv_tail(file, 8), "a,b\n5,6\n");
  EXPECT_EQ(csv_tail(file, 9), "a,b\n3,4\n5,6\n");
  EXPECT_EQ(csv_tail(file, 0), "a,b\n");
}

TEST(CsvReader, ATailOfWhatIsNoTableYetIsEmpty) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(csv_tail(folder.path() / "none", 10), "");
  EXPECT_EQ(csv_tail(folder.path(), 10), "");
  EXPECT_EQ(csv_tail(written(folder, ""), 10), "");
  EXPECT_EQ(csv_tail(written(folder, "a,b"), 10), "");
  EXPECT_EQ(csv_tail(written(folder, "a,b\n"), 10), "a,b\n");
  EXPECT_EQ(csv_tail(written(folder, "a,b\n1,"), 10), "a,b\n");
}

TEST(CsvReader, MetricsAreReadBack) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "metrics.csv";
  {
    MetricsCsv metrics(file);
    StepMetrics row{2, 7, 0.5, 1e-4, 640, 0.01, 0.1};
    row.bytes_reduced = 12;
    metrics.append(row);
    row.loss = INFINITY;
    row.step = 8;
    metrics.append(row);
  }
  std::istringstream in(csv_tail(file, 1 << 16));
  const std::vector<StepMetrics> rows = read_metrics(in);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].epoch, 2);
  EXPECT_EQ(rows[0].step, 7);
  EXPECT_EQ(rows[0].bytes_reduced, 12);
  for (const StepColumn& column : kStepColumns) {
    const bool is_loss = column.name == "loss";
    EXPECT_EQ(std::isnan(rows[1].*column.value), is_loss) << column.name;
  }
  EXPECT_EQ(rows[0].loss, 0.5);
}

TEST(CsvReader, MetricsWhoseDifferencesWouldBeInfiniteAreNoNumbers) {
  std::istringstream in("step,loss,step_seconds\n1,1.7e308,1e300\n2,-1.7e308,-1e300\n");
  const std::vector<StepMetrics> rows = read_metrics(in);
  ASSERT_EQ(rows.size(), 2U);
  for (const StepMetrics& row : rows) {
    EXPECT_TRUE(std::isnan(row.loss));
    EXPECT_EQ(std::abs(row.step_seconds), 1e300);
  }
}

}  // namespace
}  // namespace hpcboot::record
