// HDF5 files that are damaged or made by others, and how ours are stored.
#include "datasets/hdf5_data.hpp"

#include <H5Cpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "support/expect_error.hpp"
#include "support/hdf5_arrays.hpp"
#include "support/image_sets.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::data {
namespace {

using test::add;
using test::CountingSet;
using test::expect_error;
using test::kByte;
using test::open;
using test::Sizes;
using test::TemporaryFolder;

struct Case {
  const char* description;
  std::function<void(H5::Group&)> make;  ///< fills the group train
  ErrorCode code;
  const char* found;
  const char* expected;
};

std::vector<Case> cases() {
  const auto images = [](const H5::DataType& type, const Sizes& sizes) {
    return [type, sizes](H5::Group& group) {
      add(group, "images", type, sizes);
      add(group, "labels", kByte, {sizes.empty() ? 1 : sizes[0]});
    };
  };
  const auto labels = [](const H5::DataType& type, const Sizes& sizes) {
    return [type, sizes](H5::Group& group) {
      add(group, "images", kByte, {4, 3, 3});
      add(group, "labels", type, sizes);
    };
  };
  const auto wrong = ErrorCode::malformed_data;
  return {
      {"empty", [](H5::Group&) {}, ErrorCode::missing_data,
       "has no array 'train/images'; it has no arrays",
       "train/images, train/labels, test/images and test/labels"},
      {"no labels",
       [](H5::Group& group) {
         add(group, "images", kByte, {4, 3, 3});
       },
       ErrorCode::missing_data, "has no array 'train/labels'; it has train/images", "test/labels"},
      {"doubles", images(H5::PredType::IEEE_F64LE, {4, 3, 3}), wrong,
       "'train/images': elements of type float64",
       "uint8 (0 to 255) or float32 (0 to 1); do: save the array again in Python as "
       "float32: "
       "x.astype(\"float32\") of NumPy"},
      {"signed bytes", images(H5::PredType::STD_I8LE, {4, 3, 3}), wrong, "of type int8", "uint8"},
      {"words", images(H5::PredType::STD_U16BE, {4, 3, 3}), wrong, "of type uint16",
       "in Python as uint8: "},
      {"strings", images(H5::StrType(H5::PredType::C_S1, 8), {4, 3, 3}), wrong, "of type string",
       "uint8"},
      {"a scalar", images(kByte, {}), wrong, "the shape scalar", "number x rows x columns"},
      {"one dimension", images(kByte, {4}), wrong, "the shape 4", "number x rows x columns"},
      {"flat images", images(kByte, {4, 784}), wrong, "the shape 4 x 784", "x channels x"},
      {"five dimensions", images(kByte, {4, 1, 1, 3, 3}), wrong, "4 x 1 x 1 x 3 x 3", "columns"},
      {"no images", images(kByte, {0, 3, 3}), wrong, "no images", "at least one"},
      {"no rows", images(kByte, {4, 0, 3}), wrong, "images of 1x0x3", "1 to 4096"},
      {"wide", images(kByte, {4, 3, 4097}), wrong, "images of 1x3x4097", "1 to 4096"},
      {"channels last", images(kByte, {4, 28, 28, 3}), wrong, "images of 28x28x3",
       "1 to 16 channels"},
      {"labels of floats", labels(H5::PredType::IEEE_F32LE, {4}), wrong,
       "'train/labels': elements of type float32", "in Python as int64: "},
      {"labels one-hot", labels(kByte, {4, 10}), wrong, "the shape 4 x 10", "one dimension"},
      {"fewer labels", labels(kByte, {3}), wrong, "3 labels", "4, one for each of 'train/images'"},
      {"more labels", labels(kByte, {5}), wrong, "5 labels", "4, one for each"},
  };
}

TEST(Hdf5Data, AnArrayOfAnotherKindIsAnErrorThatNamesIt) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.description);
    {
      H5::H5File file(path.string(), H5F_ACC_TRUNC);
      H5::Group group = file.createGroup("train");
      c.make(group);
    }
    expect_error(
        c.code, [&] { open(path); }, path.string(), c.found, c.expected);
  }
}

// A file that crashes libhdf5 1.10, found by tests/fuzz/hdf5.cpp. A newer library may report an
// error instead.
TEST(Hdf5Data, AFileThatCrashesTheLibraryIsAnError) {
  expect_error(
      ErrorCode::malformed_data,
      [] { open_hdf5(test::source_file("tests/fuzz/corpus/hdf5/crash.h5")); }, "HDF5",
      "a complete HDF5 file");
}

/// Bytes of this process in memory.
std::size_t resident() {
  std::ifstream file("/proc/self/statm");
  std::size_t whole = 0;
  std::size_t pages = 0;
  file >> whole >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Each open array with a chunk cache takes 8 MB.
TEST(Hdf5Data, ManyArraysTakeLittleMemory) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  constexpr int kArrays = 200;
  {
    H5::H5File file(path.string(), H5F_ACC_TRUNC);
    H5::Group group = file.createGroup("train");
    H5::DSetCreatPropList chunked;
    const hsize_t chunk = 4;
    chunked.setChunk(1, &chunk);
    for (int i = 0; i < kArrays; ++i)
      add(group, ("a" + std::to_string(i)).c_str(), kByte, {4}, chunked);
  }
  const std::size_t before = resident();
  const auto file = open_hdf5(path);
  EXPECT_EQ(file->arrays().size(), kArrays);
  EXPECT_LT(resident(), before + (std::size_t{200} << 20U));
}

TEST(Hdf5Data, ALabelOutOfRangeIsNamedWithItsPlace) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{100}, std::int64_t{1} << 40}) {
    {
      H5::H5File file(path.string(), H5F_ACC_TRUNC);
      H5::Group group = file.createGroup("train");
      add(group, "images", kByte, {4, 3, 3});
      const std::int64_t labels[] = {0, 9, bad, 1};
      const hsize_t size = 4;
      group.createDataSet("labels", H5::PredType::STD_I64BE, H5::DataSpace(1, &size))
          .write(labels, H5::PredType::NATIVE_INT64);
    }
    expect_error(
        ErrorCode::malformed_data, [&] { open(path); },
        "'train/labels': label " + std::to_string(bad) + " at 2", "0 to 9");
  }
}

TEST(Hdf5Data, IntegersOfAnySizeAndOrderAreLabels) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  for (const auto& type : {H5::PredType::STD_I8LE, H5::PredType::STD_U16BE, H5::PredType::STD_I32BE,
                           H5::PredType::STD_U64LE, H5::PredType::STD_U8LE}) {
    {
      H5::H5File file(path.string(), H5F_ACC_TRUNC);
      H5::Group group = file.createGroup("train");
      add(group, "images", kByte, {4, 3, 3});
      const int labels[] = {0, 9, 3, 1};
      const hsize_t size = 4;
      group.createDataSet("labels", type, H5::DataSpace(1, &size))
          .write(labels, H5::PredType::NATIVE_INT);
    }
    EXPECT_EQ(test::read_all(*open(path)).labels, (std::vector<std::uint8_t>{0, 9, 3, 1}));
  }
}

TEST(Hdf5Data, EveryTruncationIsAnErrorThatNamesTheFile) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  for (const Hdf5Storage& storage : {Hdf5Storage{}, Hdf5Storage{4, 6}}) {
    write_hdf5(path, CountingSet(9), CountingSet(3), storage, [](std::int64_t) {});
    const std::string whole = test::read_text(path);
    ASSERT_EQ(open(path)->count(), 9);
    for (std::size_t size = 0; size < whole.size(); size += size < 256 ? 7 : 101) {
      test::write_text(path, whole.substr(0, size));
      expect_error(
          ErrorCode::malformed_data, [&] { test::read_all(*open(path)); }, path.string());
    }
  }
}

TEST(Hdf5Data, AFlippedByteOfAChunkIsFoundByItsChecksum) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  const CountingSet set(64, {1, 16, 16});
  for (const Hdf5Storage& storage : {Hdf5Storage{8, 0}, Hdf5Storage{8, 6}}) {
    write_hdf5(path, set, CountingSet(3), storage, [](std::int64_t) {});
    const std::string whole = test::read_text(path);
    const test::Read expected = test::read_all(set);
    int errors = 0;
    for (std::size_t at = whole.size() / 5; at < whole.size(); at += whole.size() / 60) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1);
      test::write_text(path, damaged);
      try {
        // The bytes between the objects are unused.
        EXPECT_EQ(test::read_all(*open(path)).pixels, expected.pixels) << at;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::malformed_data);
        EXPECT_NE(error.found().find(path.string()), std::string::npos);
        ++errors;
      }
    }
    EXPECT_GT(errors, 4);
  }
}

TEST(Hdf5Data, AFileThatIsNotHdf5IsAnError) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  test::write_text(path, "\x89HDF\r\n\x1a\n and nothing else");
  expect_error(
      ErrorCode::malformed_data, [&] { open(path); }, path.string(), "HDF5 reports",
      "a complete HDF5 file");
}

TEST(Hdf5Data, AMissingFilterIsNamed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  {
    H5::H5File file(path.string(), H5F_ACC_TRUNC);
    H5::Group group = file.createGroup("train");
    H5::DSetCreatPropList how;
    const hsize_t chunk[] = {2, 3, 3};
    how.setChunk(3, chunk);
    constexpr H5Z_filter_t kLzf = 32000;  // of h5py
    how.setFilter(kLzf, H5Z_FLAG_OPTIONAL);
    add(group, "images", kByte, {4, 3, 3}, how);
    add(group, "labels", kByte, {4});
  }
  const auto set = open(path);
  expect_error(
      ErrorCode::malformed_data, [&] { test::read_all(*set); }, "train/images", "filter 32000",
      "filters that this HDF5 library has", "h5repack -f GZIP=4", "compression=\"gzip\"");
}

TEST(Hdf5Data, ChunksAndCompressionAreAsAskedFor) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  const struct {
    Hdf5Storage storage;
    std::vector<std::int64_t> chunk;
    const char* filters;
  } cases[] = {
      {{0, 0}, {}, ""},
      {{10, 0}, {10, 1, 32, 32}, "fletcher32"},
      {{10, 9}, {10, 1, 32, 32}, "gzip 9, fletcher32"},
      {{0, 1}, {64, 1, 32, 32}, "gzip 1, fletcher32"},  // 64 KiB
      {{999, 1}, {100, 1, 32, 32}, "gzip 1, fletcher32"},
  };
  for (const auto& c : cases) {
    std::int64_t written = 0;
    write_hdf5(path, CountingSet(100, {1, 32, 32}), CountingSet(3, {1, 32, 32}), c.storage,
               [&](std::int64_t images) { written += images; });
    EXPECT_EQ(written, 103);
    const auto file = open_hdf5(path);
    ASSERT_EQ(file->arrays().size(), 4U);
    const ArrayInfo& images = file->arrays()[2];
    EXPECT_EQ(images.name, "train/images");
    EXPECT_EQ(images.type_name, "uint8");
    EXPECT_EQ(images.shape, (std::vector<std::int64_t>{100, 1, 32, 32}));
    EXPECT_EQ(images.chunk, c.chunk);
    EXPECT_EQ(images.filters, c.filters);
    EXPECT_EQ(file->arrays()[3].type_name, "int64");
  }
}

/// Changes the version of the data layout of the last array in the file to one that HDF5 does not
/// know.
void break_last_array(const std::filesystem::path& path) {
  std::string bytes = test::read_text(path);
  // Version 3, contiguous, without an address, as nothing was written.
  const std::string layout = "\x03\x01" + std::string(8, '\xff');
  const std::size_t at = bytes.rfind(layout);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 99;
  test::write_text(path, bytes);
}

TEST(Hdf5Data, AnArrayThatCannotBeOpenedIsNamedWithTheReasonAndOnlyWhereItIsNeeded) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  for (const bool needed : {false, true}) {
    {
      H5::H5File file(path.string(), H5F_ACC_TRUNC);
      H5::Group group = file.createGroup("train");
      add(group, "labels", kByte, {4});
      add(group, needed ? "other" : "images", kByte, {4, 3, 3});
      add(group, needed ? "images" : "other", kByte, {4, 3, 3});
    }
    ASSERT_EQ(open_hdf5(path)->arrays().size(), 3U);
    break_last_array(path);
    const auto file = open_hdf5(path);
    ASSERT_EQ(file->arrays().size(), 3U);
    const ArrayInfo& broken = file->arrays()[needed ? 0 : 2];
    EXPECT_EQ(broken.type_name, "unreadable");
    EXPECT_THAT(broken.trouble, ::testing::HasSubstr("bad version number"));
    if (needed) {
      expect_error(
          ErrorCode::malformed_data, [&] { open(path); }, path.string(), "array 'train/images'",
          "HDF5 reports 'bad version number", "expected: an array that can be read");
    } else {
      EXPECT_EQ(open(path)->count(), 4);
    }
  }
}

/// Arrays of `count` images and labels, none of them written, in chunks of ten or contiguous.
void make_unwritten(const std::filesystem::path& path, hsize_t count, bool in_chunks) {
  H5::H5File file(path.string(), H5F_ACC_TRUNC);
  H5::Group group = file.createGroup("train");
  H5::DSetCreatPropList images;
  H5::DSetCreatPropList labels;
  if (in_chunks) {
    const hsize_t chunk[] = {10, 1, 1};
    images.setChunk(3, chunk);
    labels.setChunk(1, chunk);
  }
  add(group, "images", kByte, {count, 1, 1}, images);
  add(group, "labels", H5::PredType::STD_I64LE, {count}, labels);
}

// A row has 2^12 bytes: 2^52 + 1 rows would have 2^12 again, after an overflow.
TEST(Hdf5Data, MoreSequencesThanTheFileCanHoldAreRefusedBeforeMemoryIsAskedFor) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  H5::DSetCreatPropList chunks;
  const hsize_t chunk[] = {1, 32, 32};
  chunks.setChunk(3, chunk);
  for (const hsize_t count : {hsize_t{8193}, (hsize_t{1} << 52) + 1}) {
    {
      H5::H5File file(path.string(), H5F_ACC_TRUNC);
      for (const char* split : {"train", "test"}) {
        H5::Group group = file.createGroup(split);
        add(group, "source", H5::PredType::NATIVE_FLOAT, {count, 32, 32}, chunks);
        add(group, "target", H5::PredType::NATIVE_FLOAT, {count, 32, 32}, chunks);
      }
    }
    expect_error(
        ErrorCode::malformed_data, [&] { open_sequence_split(open_hdf5(path), Split::train, 0); },
        path.string(), "array 'train/source'", std::to_string(count) + " sequences",
        "at most 8192, the most that a file of this size");
    EXPECT_EQ(open_sequence_split(open_hdf5(path), Split::train, 100)->count(), 100);
  }
}

TEST(Hdf5Data, MoreLabelsThanTheFileCanHoldAreRefusedBeforeMemoryIsAskedFor) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  for (const bool in_chunks : {true, false}) {
    for (const hsize_t count : {hsize_t{1} << 31, hsize_t{1} << 60}) {
      make_unwritten(path, count, in_chunks);
      for (const std::int64_t limit : {0, 100}) {
        expect_error(
            ErrorCode::malformed_data, [&] { open_split(open_hdf5(path), Split::train, limit); },
            path.string(), "array 'train/labels'", std::to_string(count) + " labels",
            "at most 8388608, the most that a file of this size");
      }
    }
    make_unwritten(path, 1'000'000, in_chunks);
    EXPECT_EQ(test::read(*open(path), {999'999}).labels, std::vector<std::uint8_t>{0});
  }
}

TEST(Hdf5Data, LabelsThatCompressWellAreRead) {
  constexpr hsize_t kCount = 10'000'000;
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  {
    H5::H5File file(path.string(), H5F_ACC_TRUNC);
    H5::Group group = file.createGroup("train");
    const hsize_t chunk[] = {1'000'000, 1, 1};
    H5::DSetCreatPropList how;
    how.setChunk(3, chunk);
    add(group, "images", kByte, {kCount, 1, 1}, how);
    H5::DSetCreatPropList compressed;
    compressed.setChunk(1, chunk);
    compressed.setDeflate(9);
    const std::vector<std::int16_t> labels(kCount, 7);
    group.createDataSet("labels", H5::PredType::STD_I16LE, H5::DataSpace(1, &kCount), compressed)
        .write(labels.data(), H5::PredType::NATIVE_INT16);
  }
  EXPECT_LT(std::filesystem::file_size(path), 40'000U);
  EXPECT_EQ(open(path)->count(), std::int64_t{kCount});
}

TEST(Hdf5Data, AFileThatCannotBeWrittenLeavesNothing) {
  const TemporaryFolder folder;
  expect_error(
      ErrorCode::unwritable_output,
      [&] {
        write_hdf5(folder.path() / "none" / "set.h5", CountingSet(1), CountingSet(1), {},
                   [](std::int64_t) {});
      },
      "none");
  const auto path = folder.path() / "set.h5";
  EXPECT_THROW(write_hdf5(path, CountingSet(1), CountingSet(1), {},
                          [](std::int64_t) { throw std::runtime_error("stop"); }),
               std::runtime_error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace hpcboot::data
