// Arrays of HDF5 files behind links, and in other files.
#include <H5Cpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <functional>

#include "support/expect_error.hpp"
#include "support/hdf5_arrays.hpp"
#include "support/image_sets.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::data {
namespace {

using test::add;
using test::CountingSet;
using test::expect_error;
using test::kByte;
using test::open;
using test::TemporaryFolder;

TEST(Hdf5Links, ArraysBehindLinksAreFound) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  write_hdf5(folder.path() / "other.h5", CountingSet(9), CountingSet(3), {}, [](std::int64_t) {});
  const std::function<void(H5::H5File&)> cases[] = {
      [](H5::H5File& file) {  // soft links to arrays and to a group
        H5::Group group = file.createGroup("data");
        add(group, "x", kByte, {9, 3, 3});
        add(group, "labels", kByte, {9});
        group.link(H5L_TYPE_SOFT, "/data/x", "images");
        file.link(H5L_TYPE_SOFT, "/data", "train");
      },
      [](H5::H5File& file) {  // a second hard link to a group
        H5::Group group = file.createGroup("all");
        add(group, "images", kByte, {9, 3, 3});
        add(group, "labels", kByte, {9});
        file.link(H5L_TYPE_HARD, "all", "train");
      },
      [](H5::H5File& file) {
        H5Lcreate_external("other.h5", "/train", file.getId(), "train", H5P_DEFAULT, H5P_DEFAULT);
      },
  };
  for (const auto& make : cases) {
    SCOPED_TRACE(&make - cases);
    {
      H5::H5File file(path.string(), H5F_ACC_TRUNC);
      make(file);
    }
    const auto set = open(path);
    EXPECT_EQ(set->count(), 9);
    EXPECT_EQ(test::read_all(*set).labels.size(), 9U);
    expect_error(
        ErrorCode::missing_data, [&] { open(path, Split::test); }, "has no array 'test/images'");
  }
}

TEST(Hdf5Links, ArraysInOtherFilesCannotBeOfAnySize) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  constexpr hsize_t kCount = (hsize_t{1} << 61) + 1;  // times 8 bytes: 8, modulo 2^64
  {
    H5::H5File other((folder.path() / "other.h5").string(), H5F_ACC_TRUNC);
    H5::Group root = other.openGroup("/");
    add(root, "images", kByte, {1, 1, 1});
    add(root, "labels", kByte, {1});
  }
  {
    H5::H5File file(path.string(), H5F_ACC_TRUNC);
    H5::Group group = file.createGroup("train");
    const auto add_virtual = [&](const char* name, const H5::DataType& type,
                                 const std::vector<hsize_t>& shape) {
      const H5::DataSpace space(static_cast<int>(shape.size()), shape.data());
      const H5::DSetCreatPropList properties;
      H5Pset_virtual(properties.getId(), space.getId(), "other.h5", name, space.getId());
      group.createDataSet(name, type, space, properties);
    };
    add_virtual("images", kByte, {kCount, 1, 1});
    add_virtual("labels", H5::PredType::NATIVE_INT64, {kCount});
  }
  expect_error(
      ErrorCode::malformed_data, [&] { open(path); }, "array 'train/labels'", "at most");
}

/// A set of 9 images, the last of which are an array of another file.
void write_virtual_set(const std::filesystem::path& path, const char* part, const char* array) {
  H5::H5File file(path.string(), H5F_ACC_TRUNC);
  H5::Group group = file.createGroup("train");
  add(group, "labels", kByte, {9});
  add(group, "first", kByte, {6, 3, 3});
  const hsize_t sizes[] = {9, 3, 3};
  const H5::DataSpace space(3, sizes);
  const H5::DSetCreatPropList properties;
  const auto map = [&](hsize_t first, hsize_t count, const char* name, const char* source) {
    const hsize_t start[] = {first, 0, 0};
    const hsize_t size[] = {count, 3, 3};
    const H5::DataSpace from(3, size);
    space.selectHyperslab(H5S_SELECT_SET, size, start);
    H5Pset_virtual(properties.getId(), space.getId(), name, source, from.getId());
  };
  map(0, 6, ".", "/train/first");
  map(6, 3, part, array);
  space.selectAll();
  group.createDataSet("images", kByte, space, properties);
}

TEST(Hdf5Links, APartThatIsMissingIsAnErrorNotZeros) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  {
    H5::H5File other((folder.path() / "other.h5").string(), H5F_ACC_TRUNC);
    H5::Group root = other.openGroup("/");
    add(root, "last", kByte, {3, 3, 3});
  }
  const auto whole = (folder.path() / "other.h5").string();
  for (const char* part : {"other.h5", whole.c_str(), "/gone/other.h5"}) {
    write_virtual_set(path, part, "last");
    EXPECT_EQ(test::read_all(*open(path)).labels.size(), 9U) << part;
  }
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  const std::array<const char*, 3> cases[] = {
      {"gone.h5", "last", "a part of it is in 'gone.h5', which does not exist"},
      {"other.h5", "gone", "a part of it is in 'other.h5', which has no array 'gone'"},
      {"pipe", "last", "a part of it is in 'pipe', which is not a regular file"},
  };
  for (const auto& [part, array, found] : cases) {
    write_virtual_set(path, part, array);
    expect_error(
        ErrorCode::malformed_data, [&] { open(path); }, "array 'train/images'", found);
  }
}

TEST(Hdf5Links, ALinkThatDoesNotResolveIsNamed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  {
    H5::H5File file(path.string(), H5F_ACC_TRUNC);
    H5::Group group = file.createGroup("train");
    add(group, "labels", kByte, {9});
    group.link(H5L_TYPE_SOFT, "/nowhere", "images");
    H5Lcreate_external("gone.h5", "/test", file.getId(), "test", H5P_DEFAULT, H5P_DEFAULT);
  }
  expect_error(
      ErrorCode::malformed_data, [&] { open(path); }, path.string(), "array 'train/images'",
      "the link 'train/images' does not resolve");
  expect_error(
      ErrorCode::malformed_data, [&] { open(path, Split::test); }, "array 'test/images'",
      "the link 'test' does not resolve");
}

TEST(Hdf5Links, ALinkToAPipeIsNotOpened) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.h5";
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  {
    H5::H5File file(path.string(), H5F_ACC_TRUNC);
    H5Lcreate_external("pipe", "/train", file.getId(), "train", H5P_DEFAULT, H5P_DEFAULT);
  }
  expect_error(
      ErrorCode::malformed_data, [&] { open(path); }, "array 'train/images'",
      "the target of the link 'train' is not a regular file");
}

}  // namespace
}  // namespace hpcboot::data
