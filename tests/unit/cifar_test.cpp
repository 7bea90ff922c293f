// Folders of CIFAR-10 and CIFAR-100, as --data, convert and inspect take them.
#include "datasets/cifar_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "datasets/convert.hpp"
#include "datasets/inspect.hpp"
#include "support/cifar_files.hpp"
#include "support/expect_error.hpp"
#include "support/image_sets.hpp"

namespace hpcboot::data {
namespace {

using test::cifar_batch;
using test::cifar_records;
using test::DataFolder;
using test::expect_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Labels = std::vector<std::uint8_t>;

/// Five training images and two test images of CIFAR-10.
void write_ten(const DataFolder& folder, const std::string& subfolder = "") {
  folder.write(subfolder + "data_batch_1.bin", cifar_records(0, {3, 0, 9}));
  folder.write(subfolder + "data_batch_2.bin", cifar_records(3, {1, 2}));
  folder.write(subfolder + "test_batch.bin", cifar_records(5, {8, 7}));
}

void write_ten_pickled(const DataFolder& folder, const std::string& subfolder = "") {
  folder.write(subfolder + "data_batch_1", test::bytes_of(cifar_batch(0, {3, 0, 9})));
  folder.write(subfolder + "data_batch_2", test::bytes_of(cifar_batch(3, {1, 2})));
  folder.write(subfolder + "test_batch", test::bytes_of(cifar_batch(5, {8, 7})));
}

void write_hundred(const DataFolder& folder, const std::string& subfolder = "") {
  folder.write(subfolder + "train.bin", cifar_records(0, {99, 0, 9, 50, 7}, 100));
  folder.write(subfolder + "test.bin", cifar_records(5, {8, 10}, 100));
}

void write_hundred_pickled(const DataFolder& folder, const std::string& subfolder = "") {
  const auto batch = [](int first, const std::vector<int>& labels) {
    return test::bytes_of(cifar_batch(first, labels, "fine_labels"));
  };
  folder.write(subfolder + "train", batch(0, {99, 0, 9, 50, 7}));
  folder.write(subfolder + "test", batch(5, {8, 10}));
}

test::Bytes pixels_of(int first, int count) {
  test::Bytes all;
  for (int i = first; i < first + count; ++i) {
    const test::Bytes one = test::cifar_pixels(i);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

struct Stored {
  void (*write)(const DataFolder&, const std::string&);
  const char* archive;
  std::int64_t classes;
  Labels train;
  Labels test;
};

std::vector<Stored> stored() {
  const Labels ten = {3, 0, 9, 1, 2};
  const Labels hundred = {99, 0, 9, 50, 7};
  return {{write_ten, "cifar-10-batches-bin/", 10, ten, {8, 7}},
          {write_ten_pickled, "cifar-10-batches-py/", 10, ten, {8, 7}},
          {write_hundred, "cifar-100-binary/", 100, hundred, {8, 10}},
          {write_hundred_pickled, "cifar-100-python/", 100, hundred, {8, 10}}};
}

TEST(Cifar, EachFormIsReadFromItsFolderAndFromTheOneAbove) {
  for (const Stored& one : stored()) {
    for (const std::string& subfolder : {std::string(), std::string(one.archive)}) {
      SCOPED_TRACE(one.archive + (subfolder.empty() ? " itself" : std::string(" within")));
      const DataFolder folder;
      one.write(folder, subfolder);
      EXPECT_EQ(format_of(folder.path().string()).name, "CIFAR");
      const auto train = open_dataset(folder.path().string(), Split::train);
      EXPECT_EQ(to_string(train->shape()), "3x32x32");
      EXPECT_EQ(train->pixel_type(), PixelType::u8);
      EXPECT_EQ(train->classes(), one.classes);
      EXPECT_EQ(test::read_all(*train).labels, one.train);
      EXPECT_EQ(test::read_all(*train).pixels, pixels_of(0, 5));
      const auto test = open_dataset(folder.path().string(), Split::test);
      EXPECT_EQ(test->classes(), one.classes);
      EXPECT_EQ(test::read_all(*test).labels, one.test);
      EXPECT_EQ(test::read_all(*test).pixels, pixels_of(5, 2));
    }
  }
}

TEST(Cifar, ALimitReadsOnlyTheFilesThatItNeeds) {
  for (const Stored& one : stored()) {
    SCOPED_TRACE(one.archive);
    const DataFolder folder;
    one.write(folder, "");
    for (const char* name : {"data_batch_2.bin", "data_batch_2"}) {
      if (std::filesystem::exists(folder.path() / name)) folder.write(name, {1, 2, 3});
    }
    for (const std::int64_t limit : {1, 3}) {
      const auto set = open_dataset(folder.path().string(), Split::train, limit);
      EXPECT_EQ(test::read_all(*set).pixels, pixels_of(0, static_cast<int>(limit)));
    }
    EXPECT_EQ(open_dataset(folder.path().string(), Split::test, 1000)->count(), 2);
  }
}

TEST(Cifar, TheBinaryFormIsReadFirst) {
  const DataFolder folder;
  write_ten_pickled(folder);
  folder.write("cifar-10-batches-bin/data_batch_1.bin", cifar_records(0, {4}));
  folder.write("cifar-10-batches-bin/test_batch.bin", cifar_records(0, {5}));
  const auto set = open_dataset(folder.path().string(), Split::train);
  EXPECT_THAT(test::read_all(*set).labels, ElementsAre(4));
}

TEST(Cifar, BothSetsInOneFolderAreAnError) {
  const DataFolder folder;
  write_ten(folder, "cifar-10-batches-bin/");
  write_hundred_pickled(folder, "cifar-100-python/");
  const std::string place = folder.path().string();
  expect_error(
      ErrorCode::missing_data, [&] { open_dataset(place, Split::train); },
      "contains both CIFAR-10 and CIFAR-100", "name the folder of one of them");
  EXPECT_EQ(open_dataset(place + "/cifar-100-python", Split::train)->classes(), 100);
}

TEST(Cifar, MnistsFolderIsStillMnists) {
  const DataFolder folder;
  folder.write("train-images-idx3-ubyte", {1});
  folder.write("test", {1});
  EXPECT_EQ(format_of(folder.path().string()).name, "MNIST");
  std::filesystem::create_directories(folder.path() / "other/train");
  expect_error(
      ErrorCode::missing_data, [&] { format_of((folder.path() / "other").string()); },
      "no data set in the folder", "trainer digits", "trainer pictures");
}

TEST(Cifar, AMissingFileIsNamed) {
  const struct {
    void (*write)(const DataFolder&, const std::string&);
    const char* removed;
    Split split;
    const char* expected;
  } cases[] = {
      {write_ten, "test_batch.bin", Split::test, "CIFAR-10's files, such as data_batch_1.bin"},
      {write_ten, "data_batch_1.bin", Split::train, "without gaps in their numbers"},
      {write_ten_pickled, "test_batch", Split::test, "data_batch_1 and test_batch"},
      {write_hundred, "test.bin", Split::test, "CIFAR-100's files, such as train.bin and test.bin"},
      {write_hundred, "train.bin", Split::train, "train.bin and test.bin"},
      {write_hundred_pickled, "train", Split::train, "train and test"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.removed);
    const DataFolder folder;
    c.write(folder, "");
    std::filesystem::remove(folder.path() / c.removed);
    expect_error(
        ErrorCode::missing_data, [&] { open_dataset(folder.path().string(), c.split); },
        folder.path().string() + "' lacks " + c.removed, c.expected, "bash setup/get-cifar --force",
        "trainer pictures NEW_FOLDER");
  }
}

TEST(Cifar, DamageIsFoundWithFileAndOffset) {
  const auto cut = [](test::Bytes bytes, std::size_t size) {
    bytes.resize(size);
    return bytes;
  };
  const struct {
    const char* name;
    test::Bytes bytes;
    const char* found;
    const char* expected;
  } cases[] = {
      {"data_batch_2.bin", {}, "offset 0: the end of the file", "records of 3073 bytes"},
      {"data_batch_2.bin", cut(cifar_records(0, {1, 2}), 6145),
       "offset 6145: the end of the file within the record that begins at 3073", "3073 bytes"},
      {"data_batch_2.bin", cut(cifar_records(0, {1, 2}), 6147), "offset 6147: the end",
       "3073 bytes"},
      {"data_batch_2.bin", cifar_records(0, {1, 10}), "offset 3073: label 10",
       "a label from 0 to 9"},
      {"data_batch_2.bin", cifar_records(0, {255}), "offset 0: label 255", "a label from 0 to 9"},
      {"train.bin", cifar_records(0, {1, 100}, 100), "offset 3075: label 100",
       "a label from 0 to 99"},
      {"train.bin", cifar_records(0, {1, 2}), "offset 6146: the end", "3074 bytes"},
      {"train", test::bytes_of(cifar_batch(0, {1, 100}, "fine_labels")), "label 100",
       "a label from 0 to 99"},
      {"data_batch_2", {}, "offset 0: the end of the file", "STOP"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.found);
    const DataFolder folder;
    const bool is_hundred = std::string(c.name).rfind("train", 0) == 0;
    const bool is_binary = std::string(c.name).find(".bin") != std::string::npos;
    if (is_hundred) {
      (is_binary ? write_hundred : write_hundred_pickled)(folder, "");
    } else {
      (is_binary ? write_ten : write_ten_pickled)(folder, "");
    }
    folder.write(c.name, c.bytes);
    expect_error(
        ErrorCode::malformed_data, [&] { open_dataset(folder.path().string(), Split::train); },
        (folder.path() / c.name).string() + "', byte offset ", c.found, c.expected,
        "bash setup/get-cifar --force", "trainer pictures NEW_FOLDER");
  }
  test::Bytes coarse = cifar_records(0, {1, 2}, 100);
  coarse[3074] = 20;
  const DataFolder folder;
  write_hundred(folder);
  folder.write("train.bin", coarse);
  expect_error(
      ErrorCode::malformed_data, [&] { open_dataset(folder.path().string(), Split::train); },
      "offset 3074: coarse label 20", "0 to 19");
}

TEST(Cifar, IsConvertedToFilesOfArrays) {
  for (const Stored& one : stored()) {
    const DataFolder folder;
    one.write(folder, "cifar/");
    const std::string source = (folder.path() / "cifar").string();
    for (const char* name : {"a.h5", "a.safetensors", "a.pt"}) {
      SCOPED_TRACE(one.archive + std::string(" to ") + name);
      const std::string target = (folder.path() / name).string();
      const auto known = std::find_if(formats().begin(), formats().end(),
                                      [&](const Format& f) { return f.has_name(target); });
      if (!known->missing.empty()) continue;
      EXPECT_EQ(convert(source, target, {}), 7);
      for (const Split split : {Split::train, Split::test}) {
        const auto set = open_dataset(target, split);
        EXPECT_EQ(to_string(set->shape()), "3x32x32");
        // A file of arrays has no number of classes; its largest label decides.
        EXPECT_EQ(set->classes(), one.classes);
        EXPECT_TRUE(test::read_all(*set) == test::read_all(*open_dataset(source, split)));
      }
    }
    expect_error(
        ErrorCode::invalid_model_use,
        [&] { convert(source, (folder.path() / "mnist").string(), {}); }, "3x32x32", "grey");
  }
}

TEST(Cifar, AFolderOfCifarIsNoPlaceForOtherData) {
  const DataFolder folder;
  write_ten(folder, "cifar-10-batches-bin/");
  expect_error(
      ErrorCode::unwritable_output,
      [&] { convert("synthetic:30x1x9x8", folder.path().string(), {}); }, "already exists");
}

TEST(Cifar, IsInspected) {
  const DataFolder folder;
  write_hundred(folder);
  const std::string text = to_text(inspect(folder.path().string(), 2), 80).str();
  EXPECT_THAT(text, HasSubstr(": CIFAR\n"));
  EXPECT_THAT(text, HasSubstr("train: 5 images of 3x32x32 (uint8), 100 classes\nlabel 99"));
  EXPECT_EQ(to_json(inspect(folder.path().string(), 0))["halves"][1]["classes"], 100);
}

}  // namespace
}  // namespace hpcboot::data
