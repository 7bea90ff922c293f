// The MNIST reader and writer on correct files, and on missing files.
#include "datasets/idx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>
#include <stdexcept>

#include "hpcboot/error.hpp"
#include "support/data_folder.hpp"

namespace hpcboot::data {
namespace {

using test::Bytes;
using test::DataFolder;
using test::gzip;
using test::idx_file;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kImages = "train-images-idx3-ubyte";
constexpr const char* kLabels = "train-labels-idx1-ubyte";

/// Three images of 2 x 4 pixels, 0 to 23, labelled 7, 0, 9.
Bytes pixels() {
  Bytes bytes(24);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}
Bytes images() {
  return idx_file({3, 2, 4}, pixels());
}
Bytes labels() {
  return idx_file({3}, {7, 0, 9});
}

Error error_of(const DataFolder& folder, Split split = Split::train) {
  try {
    read_mnist(folder.path(), split);
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("no error");
}

void expect_set(const ImageSet& set) {
  EXPECT_EQ(set.count, 3);
  EXPECT_EQ(set.rows, 2);
  EXPECT_EQ(set.cols, 4);
  EXPECT_EQ(set.pixels, pixels());
  EXPECT_THAT(set.labels, ElementsAre(7, 0, 9));
}

TEST(Idx, ReadsPlainFiles) {
  DataFolder folder;
  folder.write(kImages, images());
  folder.write(kLabels, labels());
  const ImageSet set = read_mnist(folder.path(), Split::train);
  expect_set(set);
  EXPECT_EQ(set.source, folder.path().string());
}

TEST(Idx, ReadsCompressedFilesAndMixtures) {
  DataFolder folder;
  folder.write("t10k-images-idx3-ubyte.gz", gzip(images()));
  folder.write("t10k-labels-idx1-ubyte", labels());
  expect_set(read_mnist(folder.path(), Split::test));
}

TEST(Idx, ReadsSeveralGzipMembersInOneFile) {
  DataFolder folder;
  const Bytes whole = images();
  Bytes members = gzip({whole.begin(), whole.begin() + 21});
  const Bytes second = gzip({whole.begin() + 21, whole.end()});
  members.insert(members.end(), second.begin(), second.end());
  folder.write("train-images-idx3-ubyte.gz", members);
  folder.write(kLabels, labels());
  expect_set(read_mnist(folder.path(), Split::train));
}

TEST(Idx, PrefersThePlainFile) {
  DataFolder folder;
  folder.write(kImages, images());
  folder.write("train-images-idx3-ubyte.gz", {1, 2, 3});
  folder.write(kLabels, labels());
  expect_set(read_mnist(folder.path(), Split::train));
}

TEST(Idx, LimitKeepsTheFirstImages) {
  struct Case {
    std::int64_t limit;
    std::int64_t count;
  };
  for (const bool compressed : {false, true}) {
    DataFolder folder;
    const std::string suffix = compressed ? ".gz" : "";
    folder.write(kImages + suffix, compressed ? gzip(images()) : images());
    folder.write(kLabels + suffix, compressed ? gzip(labels()) : labels());
    for (const Case& c : {Case{0, 3}, Case{1, 1}, Case{2, 2}, Case{3, 3}, Case{100, 3}}) {
      SCOPED_TRACE(c.limit);
      const ImageSet set = read_mnist(folder.path(), Split::train, c.limit);
      EXPECT_EQ(set.count, c.count);
      EXPECT_EQ(set.labels.size(), static_cast<std::size_t>(c.count));
      const Bytes all = pixels();
      EXPECT_EQ(set.pixels, Bytes(all.begin(), all.begin() + c.count * 8));
    }
    EXPECT_THROW(read_mnist(folder.path(), Split::train, -1), std::invalid_argument);
  }
}

TEST(Idx, LargeCompressedFilesAreReadInSteps) {
  DataFolder folder;
  constexpr std::uint32_t kCount = 40;
  Bytes large(std::size_t{kCount} * 1024 * 1024);  // several steps of 8 MiB
  for (std::size_t i = 0; i < large.size(); i += 4096) {
    large[i] = static_cast<std::uint8_t>(i >> 12);
  }
  folder.write("train-images-idx3-ubyte.gz", gzip(idx_file({kCount, 1024, 1024}, large)));
  folder.write(kLabels, idx_file({kCount}, Bytes(kCount, 1)));
  EXPECT_EQ(read_mnist(folder.path(), Split::train).pixels, large);
  large.resize(std::size_t{9} * 1024 * 1024);
  EXPECT_EQ(read_mnist(folder.path(), Split::train, 9).pixels, large);
}

TEST(Idx, AMissingFolderNamesBothRemedies) {
  try {
    read_mnist("data/no-such-folder", Split::train);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::missing_data);
    EXPECT_THAT(error.found(), HasSubstr("data/no-such-folder"));
    EXPECT_THAT(error.remedy(), HasSubstr("setup/get-mnist --dir data/no-such-folder"));
    EXPECT_THAT(error.remedy(), HasSubstr("`trainer digits data/no-such-folder`"));
  }
}

TEST(Idx, MissingFilesAreNamed) {
  DataFolder folder;
  folder.write(kImages, images());
  folder.write(kLabels, labels());
  const Error both = error_of(folder, Split::test);
  EXPECT_EQ(both.code(), ErrorCode::missing_data);
  EXPECT_THAT(both.found(), HasSubstr("t10k-images-idx3-ubyte[.gz] t10k-labels-idx1-ubyte[.gz]"));
  std::filesystem::remove(folder.path() / kLabels);
  const Error one = error_of(folder);
  EXPECT_EQ(one.code(), ErrorCode::missing_data);
  EXPECT_THAT(one.found(), HasSubstr("lacks train-labels-idx1-ubyte[.gz]"));
}

TEST(Idx, WhatCannotBeOpenedIsUnreadable) {
  DataFolder folder;
  folder.write(kLabels, labels());
  std::filesystem::create_directory(folder.path() / kImages);
  EXPECT_EQ(error_of(folder).code(), ErrorCode::unreadable_file);
  std::filesystem::remove(folder.path() / kImages);
  std::filesystem::create_symlink("nowhere", folder.path() / kImages);
  EXPECT_EQ(error_of(folder).code(), ErrorCode::unreadable_file);
}

TEST(Idx, WhatIsWrittenIsReadBack) {
  DataFolder folder;
  ImageSet set;
  set.count = 3;
  set.rows = 2;
  set.cols = 4;
  set.pixels = pixels();
  set.labels = {7, 0, 9};
  write_idx_images(folder.path() / images_file_name(Split::train), set);
  write_idx_labels(folder.path() / labels_file_name(Split::train), set);
  EXPECT_EQ(folder.read(kImages), images());
  EXPECT_EQ(folder.read(kLabels), labels());
  EXPECT_THAT(folder.names(), ElementsAre(kImages, kLabels));  // and no temporary file
  EXPECT_EQ(mnist_files_in(folder.path()), folder.names());
  expect_set(read_mnist(folder.path(), Split::train));
}

TEST(Idx, AFileThatCannotBeWrittenLeavesNothing) {
  DataFolder folder;
  ImageSet set;
  set.labels = {1};
  set.count = 1;
  std::filesystem::create_directories(folder.path() / kLabels / "not-empty");
  for (const auto& target : {folder.path() / kLabels, folder.path() / "no-folder" / kLabels}) {
    try {
      write_idx_labels(target, set);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unwritable_output);
      EXPECT_THAT(error.found(), HasSubstr(target.string()));
    }
  }
  EXPECT_THAT(folder.names(), ElementsAre(kLabels));
}

}  // namespace
}  // namespace hpcboot::data
