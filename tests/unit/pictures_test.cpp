#include "datasets/pictures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include "datasets/cifar_folder.hpp"
#include "datasets/picture_renderer.hpp"
#include "support/data_folder.hpp"
#include "support/expect_error.hpp"
#include "support/image_sets.hpp"

namespace hpcboot::data {
namespace {

using test::expect_error;
using ::testing::ElementsAre;

PicturesOptions small(int classes, std::int64_t train = 600, std::int64_t test = 200) {
  PicturesOptions options;
  options.classes = classes;
  options.train = train;
  options.test = test;
  options.threads = 2;
  return options;
}

std::uint32_t checksum(const std::vector<std::uint8_t>& bytes) {
  return static_cast<std::uint32_t>(crc32(0, bytes.data(), static_cast<uInt>(bytes.size())));
}

TEST(Pictures, AreTheSameBytesOnEveryMachine) {
  // These are the checksums of the first release; if they change, every user's data change.
  const CifarImages ten = make_pictures(Split::train, small(10, 2000));
  EXPECT_EQ(checksum(ten.pixels), 0xe51bc65cU);
  EXPECT_EQ(checksum(ten.labels), 0x31565ce2U);
  const CifarImages hundred = make_pictures(Split::train, small(100, 2000));
  EXPECT_EQ(checksum(hundred.pixels), 0x8be2310aU);
  EXPECT_EQ(checksum(hundred.labels), 0xee2d18c7U);
}

TEST(Pictures, DoNotDependOnTheNumberOfThreads) {
  PicturesOptions options = small(100, 1500);
  options.threads = 1;
  const CifarImages one = make_pictures(Split::train, options);
  for (const int threads : {0, 2, 5}) {
    options.threads = threads;
    const CifarImages many = make_pictures(Split::train, options);
    EXPECT_EQ(one.pixels, many.pixels);
    EXPECT_EQ(one.labels, many.labels);
  }
}

TEST(Pictures, DifferBetweenSeedsAndBetweenSplits) {
  PicturesOptions options = small(10, 200, 200);
  const CifarImages train = make_pictures(Split::train, options);
  const CifarImages test = make_pictures(Split::test, options);
  options.seed = 4321;
  const CifarImages other = make_pictures(Split::train, options);
  EXPECT_NE(train.labels, test.labels);
  EXPECT_NE(train.labels, other.labels);
  EXPECT_NE(train.pixels, test.pixels);
  EXPECT_NE(train.pixels, other.pixels);
}

TEST(Pictures, AreBalanced) {
  for (const int classes : {10, 100}) {
    const CifarImages set = make_pictures(Split::train, small(classes, 1003));
    std::vector<int> counts(static_cast<std::size_t>(classes));
    for (const auto label : set.labels) ++counts.at(label);
    for (int label = 0; label < classes; ++label) {
      EXPECT_EQ(counts[static_cast<std::size_t>(label)], 1000 / classes + (label < 3 ? 1 : 0));
    }
  }
}

/// As in CIFAR, no channel is dark or bright on average, and every picture varies.
TEST(Pictures, HaveColours) {
  const CifarImages set = make_pictures(Split::train, small(100, 1000));
  constexpr std::size_t kPlane = 1024;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    double sum = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
      const auto* const plane = set.pixels.data() + i * kCifarImage + channel * kPlane;
      for (std::size_t p = 0; p < kPlane; ++p) sum += plane[p];
      EXPECT_GT(*std::max_element(plane, plane + kPlane) - *std::min_element(plane, plane + kPlane),
                5);
    }
    EXPECT_NEAR(sum / 1000 / kPlane, 115, 40) << channel;
  }
}

/// The mean picture of each class, which is all that a linear model sees, says little about a
/// picture.
TEST(Pictures, CannotBeLearnedFromTheirMeans) {
  const CifarImages train = make_pictures(Split::train, small(10, 3000, 1000));
  const CifarImages test = make_pictures(Split::test, small(10, 3000, 1000));
  std::vector<std::vector<double>> means(10, std::vector<double>(kCifarImage));
  for (std::size_t i = 0; i < 3000; ++i) {
    for (std::size_t p = 0; p < kCifarImage; ++p)
      means[train.labels[i]][p] += train.pixels[i * kCifarImage + p] / 300.0;
  }
  int right = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    std::vector<double> distances(10);
    for (std::size_t label = 0; label < 10; ++label) {
      for (std::size_t p = 0; p < kCifarImage; ++p) {
        const double difference = test.pixels[i * kCifarImage + p] - means[label][p];
        distances[label] += difference * difference;
      }
    }
    const auto nearest = std::min_element(distances.begin(), distances.end()) - distances.begin();
    right += nearest == test.labels[i] ? 1 : 0;
  }
  EXPECT_LT(right, 250);
}

TEST(Pictures, HaveNamesOfTheirClasses) {
  EXPECT_EQ(picture_name(0, 10), "plain_disc");
  EXPECT_EQ(picture_name(9, 10), "striped_star");
  EXPECT_EQ(picture_name(0, 100), "warm_plain_disc");
  EXPECT_EQ(picture_name(58, 100), "cold_dotted_cross");
  EXPECT_EQ(coarse_picture_name(58 / 5), "cold_cross");
  std::set<std::string> names;
  for (int label = 0; label < 100; ++label) names.insert(picture_name(label, 100));
  EXPECT_EQ(names.size(), 100U);
}

TEST(Pictures, AreWrittenAsCifarAndReadBack) {
  for (const int classes : {10, 100}) {
    const test::DataFolder folder;
    for (const std::string name : {"new/folder", "there"}) {
      SCOPED_TRACE(name + " " + std::to_string(classes));
      if (name == "there") std::filesystem::create_directory(folder.path() / name);
      const auto target = folder.path() / name;
      write_pictures(target, small(classes));
      EXPECT_EQ(cifar_files_in(target).size(), classes == 10 ? 6U : 2U);
      for (const Split split : {Split::train, Split::test}) {
        const CifarImages made = make_pictures(split, small(classes));
        const auto set = open_cifar(target, split);
        EXPECT_EQ(set->classes(), classes);
        EXPECT_EQ(test::read_all(*set).pixels, made.pixels);
        EXPECT_EQ(test::read_all(*set).labels, made.labels);
      }
      const std::string names =
          test::read_text(target / (classes == 10 ? "batches.meta.txt" : "fine_label_names.txt"));
      EXPECT_EQ(std::count(names.begin(), names.end(), '\n'), classes);
    }
    EXPECT_THAT(folder.names(), ElementsAre("new", "there"));
  }
}

TEST(Pictures, AFewFillFewerFiles) {
  const test::DataFolder folder;
  write_pictures(folder.path() / "few", small(10, 3, 1));
  EXPECT_EQ(cifar_files_in(folder.path() / "few").size(), 4U);
  EXPECT_EQ(open_cifar(folder.path() / "few", Split::train)->count(), 3);
}

TEST(Pictures, OverwriteNothing) {
  for (const std::string name :
       {"data_batch_2.bin", "test", "train-images-idx3-ubyte", "cifar-100-binary/train.bin"}) {
    const test::DataFolder folder;
    folder.write(name, {1});
    expect_error(
        ErrorCode::unwritable_output, [&] { write_pictures(folder.path(), small(10)); },
        name + "' already exists");
    EXPECT_EQ(folder.names().size(), 1U);
    EXPECT_EQ(folder.read(name), test::Bytes{1});
  }
}

TEST(Pictures, LeaveNothingBehindWhenInterrupted) {
  struct Interruption {};
  const test::DataFolder folder;
  PicturesOptions options = small(10, 1000, 1000);
  options.progress = [](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 2000);
    if (done > 1200) throw Interruption{};  // the training set is written by then
  };
  EXPECT_THROW(write_pictures(folder.path() / "new", options), Interruption);
  EXPECT_TRUE(folder.names().empty());
}

TEST(Pictures, RefuseNumbersThatMakeNoSet) {
  EXPECT_THROW(make_pictures(Split::train, small(10, 0)), std::invalid_argument);
  EXPECT_THROW(make_pictures(Split::test, small(10, 1, -1)), std::invalid_argument);
  EXPECT_THROW(make_pictures(Split::train, small(20)), std::invalid_argument);
}

}  // namespace
}  // namespace hpcboot::data
