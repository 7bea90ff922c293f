#include "datasets/digits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "hpcboot/error.hpp"
#include "support/data_folder.hpp"

namespace hpcboot::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kImage = 28 * 28;

DigitsOptions small(std::int64_t train = 600, std::int64_t test = 200, int threads = 2) {
  DigitsOptions options;
  options.train = train;
  options.test = test;
  options.threads = threads;
  return options;
}

TEST(Digits, AreTheSameBytesOnEveryMachine) {
  // These are the checksums of the first release; if they change, every user's data change.
  const ImageSet set = make_digits(Split::train, small(2000));
  EXPECT_EQ(crc32(0, set.pixels.data(), static_cast<uInt>(set.pixels.size())), 0x8b876de0U);
  EXPECT_EQ(crc32(0, set.labels.data(), static_cast<uInt>(set.labels.size())), 0x31565ce2U);
}

TEST(Digits, DoNotDependOnTheNumberOfThreads) {
  const ImageSet one = make_digits(Split::train, small(1500, 1, 1));
  for (const int threads : {0, 2, 5}) {
    const ImageSet many = make_digits(Split::train, small(1500, 1, threads));
    EXPECT_EQ(one.pixels, many.pixels);
    EXPECT_EQ(one.labels, many.labels);
  }
}

TEST(Digits, DifferBetweenSeedsAndBetweenSplits) {
  DigitsOptions options = small(200, 200);
  const ImageSet train = make_digits(Split::train, options);
  const ImageSet test = make_digits(Split::test, options);
  options.seed = 4321;
  const ImageSet other = make_digits(Split::train, options);
  for (const ImageSet* set : {&test, &other}) {
    EXPECT_NE(train.labels, set->labels);
    for (std::size_t i = 0; i < 200; ++i) {
      const auto image = set->pixels.begin() + static_cast<std::ptrdiff_t>(i * kImage);
      EXPECT_EQ(std::search(train.pixels.begin(), train.pixels.end(), image, image + kImage),
                train.pixels.end());
    }
  }
}

TEST(Digits, AreBalancedAndShuffled) {
  const ImageSet set = make_digits(Split::train, small(1003));
  std::array<int, 10> counts{};
  for (const auto label : set.labels) ++counts.at(label);
  for (std::size_t digit = 0; digit < 10; ++digit) {
    EXPECT_EQ(counts.at(digit), digit < 3 ? 101 : 100);
  }
  std::array<int, 10> first{};  // in the first fifth
  for (std::size_t i = 0; i < 200; ++i) ++first.at(set.labels[i]);
  for (const int count : first)
    EXPECT_THAT(count, ::testing::AllOf(::testing::Gt(5), ::testing::Lt(40)));
}

TEST(Digits, LookLikeMnist) {
  const ImageSet set = make_digits(Split::train, small(1000));
  EXPECT_EQ(set.rows, 28);
  EXPECT_EQ(set.cols, 28);
  double sum = 0;
  for (const auto pixel : set.pixels) sum += pixel;
  EXPECT_NEAR(sum / static_cast<double>(set.pixels.size()) / 255, 0.1307, 0.02);
  for (std::size_t i = 0; i < 1000; ++i) {
    SCOPED_TRACE(i);
    const std::uint8_t* image = set.pixels.data() + i * kImage;
    double mass = 0;
    double x = 0;
    double y = 0;
    int ink = 0;
    for (std::size_t p = 0; p < kImage; ++p) {
      if (image[p] < 128) continue;
      ++ink;
      mass += image[p];
      x += image[p] * static_cast<double>(p % 28);
      y += image[p] * static_cast<double>(p / 28);
    }
    EXPECT_GT(ink, 15);
    EXPECT_LT(ink, 300);
    EXPECT_NEAR(x / mass, 13.5, 5);
    EXPECT_NEAR(y / mass, 13.5, 5);
  }
}

/// A classifier that knows the mean image of each digit is far better than chance, because the
/// labels match the images, and far from perfect, because the images vary.
TEST(Digits, CanBeLearnedButNotByHeart) {
  const ImageSet train = make_digits(Split::train, small(3000, 1000));
  const ImageSet test = make_digits(Split::test, small(3000, 1000));
  std::vector<std::vector<double>> means(10, std::vector<double>(kImage));
  for (std::size_t i = 0; i < 3000; ++i) {
    for (std::size_t p = 0; p < kImage; ++p) {
      means[train.labels[i]][p] += train.pixels[i * kImage + p] / 300.0;
    }
  }
  int right = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    std::vector<double> distances(10);
    for (std::size_t digit = 0; digit < 10; ++digit) {
      for (std::size_t p = 0; p < kImage; ++p) {
        const double difference = test.pixels[i * kImage + p] - means[digit][p];
        distances[digit] += difference * difference;
      }
    }
    const auto nearest = std::min_element(distances.begin(), distances.end()) - distances.begin();
    right += nearest == test.labels[i] ? 1 : 0;
  }
  EXPECT_GT(right, 500);
  EXPECT_LT(right, 950);
}

TEST(Digits, AreWrittenAsMnistAndReadBack) {
  test::DataFolder folder;
  for (const std::string name : {"new/folder", "there", "slash/"}) {
    SCOPED_TRACE(name);
    if (name == "there") std::filesystem::create_directory(folder.path() / name);
    const auto target = folder.path() / name;
    write_digits(target, small());
    EXPECT_EQ(mnist_files_in(target).size(), 4U);
    for (const Split split : {Split::train, Split::test}) {
      const ImageSet made = make_digits(split, small());
      const ImageSet read = read_mnist(target, split);
      EXPECT_EQ(read.count, split == Split::train ? 600 : 200);
      EXPECT_EQ(read.pixels, made.pixels);
      EXPECT_EQ(read.labels, made.labels);
    }
    const auto entries = std::filesystem::directory_iterator(target);
    EXPECT_EQ(std::distance(begin(entries), end(entries)), 4);
  }
  EXPECT_THAT(folder.names(), ElementsAre("new", "slash", "there"));
}

TEST(Digits, OverwriteNothing) {
  for (const std::string name : {"train-labels-idx1-ubyte", "t10k-images-idx3-ubyte.gz"}) {
    test::DataFolder folder;
    folder.write(name, {1});
    try {
      write_digits(folder.path(), small());
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unwritable_output);
      EXPECT_THAT(error.found(), HasSubstr(name));
    }
    EXPECT_THAT(folder.names(), ElementsAre(name));
    EXPECT_EQ(folder.read(name), test::Bytes{1});
  }
}

TEST(Digits, LeaveNothingBehindWhenInterrupted) {
  struct Interruption {};
  test::DataFolder folder;
  std::filesystem::create_directory(folder.path() / "there");
  for (const std::string name : {"there", "new"}) {
    DigitsOptions options = small(3000, 3000);
    options.progress = [](std::int64_t done, std::int64_t) {
      if (done > 4000) throw Interruption{};  // the first split is written by then
    };
    EXPECT_THROW(write_digits(folder.path() / name, options), Interruption);
  }
  EXPECT_THAT(folder.names(), ElementsAre("there"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "there"));
}

TEST(Digits, AFolderThatCannotBeMadeIsAnError) {
  test::DataFolder folder;
  folder.write("file", {1});
  for (const std::string name : {"file", "file/folder"}) {
    try {
      write_digits(folder.path() / name, small());
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unwritable_output);
      EXPECT_THAT(error.found(), HasSubstr(folder.path().string()));
    }
  }
  EXPECT_THAT(folder.names(), ElementsAre("file"));
}

TEST(Digits, ReportProgressToTheEnd) {
  test::DataFolder folder;
  std::vector<std::int64_t> reports;
  DigitsOptions options = small(1000, 1000);
  options.progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 2000);
    reports.push_back(done);
  };
  write_digits(folder.path() / "digits", options);
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
  EXPECT_THAT(reports, ::testing::Contains(1000));
  EXPECT_EQ(reports.back(), 2000);
}

TEST(Digits, RefuseNonPositiveCounts) {
  EXPECT_THROW(make_digits(Split::train, small(0)), std::invalid_argument);
  EXPECT_THROW(make_digits(Split::test, small(1, -1)), std::invalid_argument);
}

}  // namespace
}  // namespace hpcboot::data
