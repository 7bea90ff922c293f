// The formats that --data accepts: each returns what was written, in any order, on any thread.
#include "datasets/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <set>

#include "datasets/batch_loader.hpp"
#include "datasets/image_samples.hpp"
#include "support/expect_error.hpp"
#include "support/image_sets.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::data {
namespace {

using test::CountingSet;
using test::expect_error;
using test::TemporaryFolder;
using test::write_text;
using ::testing::HasSubstr;

constexpr std::int64_t kTrain = 37;
constexpr std::int64_t kTest = 11;

void ignore(std::int64_t) {}

bool has(std::string_view format) {
  for (const Format& one : formats()) {
    if (one.name == format) return one.missing.empty();
  }
  return false;
}

struct Stored {
  const char* description;
  const char* name;    ///< of the file
  const char* format;  ///< that reads it
  ImageShape shape{1, 3, 4};
  PixelType type = PixelType::u8;
  StorageOptions storage{};
  std::int64_t classes = kClasses;
};

std::vector<Stored> stored() {
  const ImageShape color{3, 5, 4};
  return {
      {"MNIST", "folder", "MNIST"},
      {"safetensors", "a.safetensors", "safetensors"},
      {"safetensors, colour", "a.safetensors", "safetensors", color},
      {"safetensors, floats", "a.safetensors", "safetensors", color, PixelType::f32},
      {"safetensors, 100 classes", "a.safetensors", "safetensors", color, PixelType::u8, {}, 100},
      {"HDF5", "a.h5", "HDF5"},
      {"HDF5, colour", "a.h5", "HDF5", color},
      {"HDF5, floats", "a.h5", "HDF5", color, PixelType::f32},
      {"HDF5, chunks", "a.hdf5", "HDF5", color, PixelType::u8, {5, 0}},
      {"HDF5, chunks larger than the set", "a.h5", "HDF5", color, PixelType::u8, {1000, 0}},
      {"HDF5, compressed", "a.h5", "HDF5", color, PixelType::f32, {0, 6}},
      {"HDF5, compressed chunks of one", "a.h5", "HDF5", color, PixelType::u8, {1, 1}},
      {"HDF5, 100 classes", "a.h5", "HDF5", color, PixelType::u8, {}, 100},
      {"PyTorch", "a.pt", "PyTorch"},
      {"PyTorch, colour", "a.pth", "PyTorch", color},
      {"PyTorch, floats", "a.pt", "PyTorch", color, PixelType::f32},
      {"PyTorch, 100 classes", "a.pt", "PyTorch", color, PixelType::u8, {}, 100},
  };
}

/// Calls `check` with each format of this build, and the place of a set that was written in it.
template <typename Check>
void for_each_stored(Check check) {
  int checked = 0;
  for (const Stored& one : stored()) {
    if (!has(one.format)) continue;
    SCOPED_TRACE(one.description);
    const TemporaryFolder folder;
    const std::string place = (folder.path() / one.name).string();
    format_for_writing(place).write(place, CountingSet(kTrain, one.shape, one.type, one.classes),
                                    CountingSet(kTest, one.shape, one.type, one.classes),
                                    one.storage, ignore);
    check(one, place);
    ++checked;
  }
  EXPECT_GE(checked, 4) << "MNIST and safetensors are in every build";
}

TEST(Formats, GiveBackWhatWasWritten) {
  for_each_stored([](const Stored& one, const std::string& place) {
    EXPECT_EQ(format_of(place).name, one.format);
    for (const Split split : {Split::train, Split::test}) {
      const CountingSet expected(split == Split::train ? kTrain : kTest, one.shape, one.type,
                                 one.classes);
      const auto set = open_dataset(place, split);
      EXPECT_EQ(set->count(), expected.count());
      EXPECT_TRUE(set->shape() == one.shape) << to_string(set->shape());
      EXPECT_EQ(set->pixel_type(), one.type);
      EXPECT_EQ(set->classes(), one.classes);
      EXPECT_TRUE(test::read_all(*set) == test::read_all(expected));
    }
  });
}

TEST(Formats, ReadAnyImagesInAnyOrder) {
  const std::vector<std::int64_t> orders[] = {
      {}, {5}, {3, 4, 5}, {36, 0, 17, 18, 2}, {7, 7, 7}, {9, 3, 9, 4, 3, 36}};
  for_each_stored([&](const Stored& one, const std::string& place) {
    const CountingSet expected(kTrain, one.shape, one.type, one.classes);
    const auto set = open_dataset(place, Split::train);
    for (const auto& indices : orders) {
      EXPECT_TRUE(test::read(*set, indices) == test::read(expected, indices))
          << ::testing::PrintToString(indices);
    }
    for (const std::int64_t stray : {std::int64_t{-1}, kTrain}) {
      EXPECT_THROW(test::read(*set, {0, stray}), std::out_of_range);
    }
  });
}

TEST(Formats, ALimitKeepsTheFirstImages) {
  for_each_stored([](const Stored& one, const std::string& place) {
    EXPECT_EQ(open_dataset(place, Split::train, 4)->count(), 4);
    EXPECT_EQ(open_dataset(place, Split::train, 4)->classes(), one.classes)
        << "those of the set, though the first labels are below 4";
    EXPECT_EQ(open_dataset(place, Split::train, 400)->count(), kTrain);
    EXPECT_THROW(test::read(*open_dataset(place, Split::train, 4), {4}), std::out_of_range);
  });
}

TEST(Formats, SeveralThreadsMayReadAtOnce) {
  for_each_stored([](const Stored& one, const std::string& place) {
    const auto set = open_dataset(place, Split::train);
    const auto expected = test::read_all(CountingSet(kTrain, one.shape, one.type, one.classes));
    std::vector<std::future<int>> readers;
    for (int reader = 0; reader < 4; ++reader) {
      readers.push_back(std::async(std::launch::async, [&] {
        int right = 0;
        for (int i = 0; i < 20; ++i) right += test::read_all(*set) == expected ? 1 : 0;
        return right;
      }));
    }
    for (auto& reader : readers) EXPECT_EQ(reader.get(), 20);
  });
}

TEST(Formats, BytesAndFloatsGiveTheLoaderTheSameBatch) {
  ImageOptions options;
  options.size = 6;
  Batch batches[2];
  for (const PixelType type : {PixelType::u8, PixelType::f32}) {
    const ImageSamples set(std::make_shared<CountingSet>(8, ImageShape{3, 5, 4}, type), options);
    BatchLoader loader(set, {6, 1, 7}, 3);
    ASSERT_TRUE(loader.next(batches[type == PixelType::u8 ? 0 : 1]));
  }
  EXPECT_EQ(batches[0].parts[0].shape, (std::vector<std::int64_t>{3, 3, 6, 6}));
  EXPECT_EQ(batches[0].parts[1].bytes, batches[1].parts[1].bytes);
  const auto images = [](const Batch& batch) {
    const auto* const begin = batch.parts[0].data<float>();
    return std::vector<float>(begin, begin + batch.parts[0].bytes.size() / sizeof(float));
  };
  EXPECT_THAT(images(batches[0]),
              ::testing::Pointwise(::testing::FloatNear(1e-5F), images(batches[1])));
}

TEST(Formats, AreRecognisedByContentBeforeTheirName) {
  if (!has("HDF5")) GTEST_SKIP() << "this build has no HDF5";
  const TemporaryFolder folder;
  const std::string honest = (folder.path() / "a.h5").string();
  const std::string renamed = (folder.path() / "a.pt").string();
  format_for_writing(honest).write(honest, CountingSet(3), CountingSet(2), {}, ignore);
  std::filesystem::rename(honest, renamed);
  EXPECT_EQ(format_of(renamed).name, "HDF5");
  EXPECT_EQ(open_dataset(renamed, Split::test)->count(), 2);
}

TEST(Formats, WhatIsNoDataIsNamedWithWhatIsTaken) {
  const TemporaryFolder folder;
  const std::string text = (folder.path() / "notes.txt").string();
  write_text(text, "hello");
  const struct {
    std::string place;
    std::string found;
  } cases[] = {
      {text, "notes.txt' identifies its format"},
      {(folder.path() / "none.h5").string(), "no file"},
      {(folder.path() / "none.xyz").string(), "no file"},
      {(folder.path() / "none").string(), "no folder"},
      {"synthetic:", "'synthetic:'"},
      {"synthetic:12", "'synthetic:12'"},
      {"synthetic:0x1x28x28", "0x1x28x28"},
      {"synthetic:10x1x28x28x1", "28x1'"},
      {"synthetic:10x1x28x", "28x'"},
      {"synthetic:10x17x28x28", "10x17"},
      {"synthetic:10x1x4097x28", "4097"},
      {"synthetic:-3x1x8x8", "-3"},
      {"synthetic:99999999999999999999x1x8x8", "9999"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.place);
    expect_error(
        ErrorCode::missing_data, [&] { open_dataset(c.place, Split::train); }, c.found);
  }
  expect_error(
      ErrorCode::missing_data, [&] { format_of(text); },
      "FOLDER with MNIST's files, FOLDER with CIFAR's files, FILE.pt, FILE.safetensors, FILE.h5, "
      "synthetic:NxCxHxW or sequences:NxSxTxE");
}

TEST(Formats, WhatMayNotBeReadIsUnreadableAndNotMissing) {
  const TemporaryFolder folder;
  const auto closed = folder.path() / "closed";
  const auto mnist = folder.path() / "mnist";
  for (const auto& place : {closed, mnist}) std::filesystem::create_directory(place);
  std::vector<std::filesystem::path> places = {closed / "a.h5", closed / "folder",
                                               folder.path() / std::string(300, 'x'), mnist};
  for (const char* name : {"a.h5", "a.pt", "a.safetensors", "a.txt"}) {
    places.push_back(folder.path() / name);
    write_text(places.back(), "text");
    std::filesystem::permissions(places.back(), std::filesystem::perms::none);
  }
  for (const auto& place : {closed, mnist}) {
    std::filesystem::permissions(place, std::filesystem::perms::none);
  }
  {
    const test::WithoutRoot user;
    if (!user.bound()) GTEST_SKIP() << "root cannot become another user here";
    for (const auto& place : places) {
      const bool is_long = place.filename().string().size() == 300;
      expect_error(
          ErrorCode::unreadable_file, [&] { open_dataset(place.string(), Split::train); },
          place.string(), is_long ? "File name too long" : "Permission denied");
    }
  }
  // The owner, if not root, must be able to remove them.
  for (const auto& place : {closed, mnist}) {
    std::filesystem::permissions(place, std::filesystem::perms::owner_all);
  }
}

TEST(Formats, ANewSetMustHaveAKnownName) {
  for (const char* place : {"out.txt", "synthetic:10x1x8x8", "out.h5x"}) {
    expect_error(
        ErrorCode::unwritable_output, [&] { format_for_writing(place); }, place, ".safetensors");
  }
  EXPECT_EQ(format_for_writing("some/folder").name, "MNIST");
  EXPECT_EQ(format_for_writing("some.safetensors").name, "safetensors");
}

TEST(Formats, MnistsFilesHoldGreyBytesOnly) {
  const TemporaryFolder folder;
  const std::string place = (folder.path() / "out").string();
  const Format& mnist = format_for_writing(place);
  const CountingSet color(3, {3, 4, 4});
  const CountingSet floats(3, {1, 4, 4}, PixelType::f32);
  const CountingSet hundred(3, {1, 4, 4}, PixelType::u8, 100);
  for (const Dataset* set :
       {static_cast<const Dataset*>(&color), static_cast<const Dataset*>(&floats)}) {
    expect_error(
        ErrorCode::invalid_model_use, [&] { mnist.write(place, *set, *set, {}, ignore); }, "grey");
  }
  expect_error(
      ErrorCode::invalid_model_use, [&] { mnist.write(place, hundred, hundred, {}, ignore); },
      "100 classes", "at most 10");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Formats, SplitsOfDifferentKindAreAnError) {
  check_splits(CountingSet(2, {3, 8, 8}), CountingSet(2, {3, 9, 9}), "x");
  expect_error(
      ErrorCode::malformed_data,
      [] {
        check_splits(CountingSet(2, {3, 8, 8}), CountingSet(2, {1, 8, 8}), "x.h5");
      },
      "x.h5", "3x8x8", "1x8x8");
}

TEST(Synthetic, IsTheSameEveryTimeAndDiffersByImageAndSplit) {
  const auto train = open_dataset("synthetic:600x3x9x7", Split::train);
  EXPECT_EQ(train->count(), 600);
  EXPECT_EQ(open_dataset("synthetic:600x3x9x7", Split::test)->count(), 100);
  EXPECT_EQ(open_dataset("synthetic:2x3x9x7", Split::test)->count(), 1);
  EXPECT_EQ(open_dataset("synthetic:600x3x9x7", Split::train, 5)->count(), 5);
  EXPECT_EQ(to_string(train->shape()), "3x9x7");
  const auto again = open_dataset("synthetic:600x3x9x7", Split::train);
  EXPECT_TRUE(test::read_all(*train) == test::read_all(*again));
  const auto test = open_dataset("synthetic:600x3x9x7", Split::test);
  EXPECT_FALSE(test::read(*train, {0}) == test::read(*test, {0}));
  EXPECT_NE(test::read(*train, {0}).pixels, test::read(*train, {1}).pixels);
  // Pinned, because runs of different machines are compared: the sum of the first image, and its
  // label.
  const test::Read first = test::read(*open_dataset("synthetic:10x1x28x28", Split::train), {0});
  std::int64_t sum = 0;
  for (const std::uint8_t pixel : first.pixels) sum += pixel;
  EXPECT_EQ(sum, 62873);
  EXPECT_EQ(int{first.labels[0]}, 3);
}

TEST(Synthetic, TheBrightBarGivesTheLabel) {
  const auto set = open_dataset("synthetic:200x2x28x28", Split::train);
  const test::Read all = test::read_all(*set);
  std::set<int> labels;
  for (std::size_t i = 0; i < all.labels.size(); ++i) {
    labels.insert(all.labels[i]);
    for (std::size_t channel = 0; channel < 2; ++channel) {
      const auto row = static_cast<std::size_t>(all.labels[i]) * 28 / 10;
      EXPECT_EQ(int{all.pixels[(i * 2 + channel) * 784 + row * 28 + 5]}, 224) << i;
    }
    EXPECT_EQ(std::count(all.pixels.begin() + static_cast<std::ptrdiff_t>(i * 1568),
                         all.pixels.begin() + static_cast<std::ptrdiff_t>((i + 1) * 1568), 224) %
                  (2 * 28),
              0);
  }
  EXPECT_EQ(labels.size(), 10U);
}

}  // namespace
}  // namespace hpcboot::data
