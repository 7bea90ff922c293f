// Arrays of HDF5 files behind links, and in other files.
#include <H5Cpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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
