// Data sets in safetensors files that are damaged or have wrong types.
#include "datasets/safetensors_data.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "support/expect_error.hpp"
#include "support/image_sets.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::data {
namespace {

using record::DType;
using test::CountingSet;
using test::expect_error;
using test::TemporaryFolder;

struct Tensor {
  DType type;
  std::vector<std::int64_t> shape;
};

Tensor tensor(DType type, std::vector<std::int64_t> shape) {
  return {type, std::move(shape)};
}

/// A file with these two tensors, of zeros.
void write(const std::filesystem::path& path, const Tensor& images, const Tensor& labels) {
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<record::TensorView> views;
  for (const Tensor* tensor : {&images, &labels}) {
    std::size_t size = record::size_of(tensor->type);
    for (const std::int64_t length : tensor->shape) size *= static_cast<std::size_t>(length);
    bytes.emplace_back(size);
    views.push_back({tensor == &images ? "train/images" : "train/labels", tensor->type,
                     tensor->shape, bytes.back().data(), size});
  }
  record::write_safetensors(path, views);
}

TEST(SafetensorsData, ATensorOfAnotherKindIsAnErrorThatNamesIt) {
  const Tensor images{DType::u8, {4, 3, 3}};
  const Tensor labels{DType::i64, {4}};
  struct Case {
    Tensor images;
    Tensor labels;
    const char* found;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {tensor(DType::f16, {4, 3, 3}), labels, "'train/images': elements of type float16",
       "float32"},
      {tensor(DType::boolean, {4, 3, 3}), labels, "of type bool", "uint8"},
      {tensor(DType::u8, {}), labels, "the shape scalar", "number x rows x columns"},
      {tensor(DType::u8, {4, 784}), labels, "the shape 4 x 784", "number x rows x columns"},
      {tensor(DType::u8, {0, 3, 3}), labels, "no images", "at least one"},
      {tensor(DType::u8, {4, 0, 3}), labels, "images of 1x0x3", "1 to 4096"},
      {tensor(DType::u8, {1, 28, 28, 3}), labels, "images of 28x28x3", "1 to 16 channels"},
      {images, tensor(DType::f32, {4}), "'train/labels': elements of type float32", "integers"},
      {images, tensor(DType::i64, {4, 1}), "the shape 4 x 1", "one dimension"},
      {images, tensor(DType::i64, {3}), "3 labels", "4, one for each of 'train/images'"},
  };
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.safetensors";
  for (const auto& c : cases) {
    SCOPED_TRACE(c.found);
    write(path, c.images, c.labels);
    expect_error(
        ErrorCode::malformed_data, [&] { open_split(open_safetensors(path), Split::train, 0); },
        path.string(), c.found, c.expected);
  }
  write(path, images, labels);
  EXPECT_EQ(open_split(open_safetensors(path), Split::train, 0)->count(), 4);
  expect_error(
      ErrorCode::missing_data, [&] { open_split(open_safetensors(path), Split::test, 0); },
      "has no array 'test/images'; it has train/");
}

TEST(SafetensorsData, IntegersOfAnySizeAreLabels) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.safetensors";
  const std::pair<DType, std::size_t> types[] = {{DType::u8, 1},  {DType::i8, 1},  {DType::i16, 2},
                                                 {DType::u16, 2}, {DType::i32, 4}, {DType::u32, 4},
                                                 {DType::i64, 8}, {DType::u64, 8}};
  const std::vector<std::uint8_t> images(4 * 9);
  for (const auto& [type, size] : types) {
    SCOPED_TRACE(type_name_of(type));
    std::vector<std::uint8_t> labels(4 * size);
    for (std::size_t i = 0; i < 4; ++i) labels[i * size] = static_cast<std::uint8_t>(9 - i);
    const auto write_them = [&, type = type] {
      record::write_safetensors(
          path, {{"train/images", DType::u8, {4, 3, 3}, images.data(), images.size()},
                 {"train/labels", type, {4}, labels.data(), labels.size()}});
    };
    write_them();
    const auto set = open_split(open_safetensors(path), Split::train, 0);
    EXPECT_EQ(test::read_all(*set).labels, (std::vector<std::uint8_t>{9, 8, 7, 6}));
    labels.back() = 0xff;  // for uint64, beyond int64
    write_them();
    expect_error(
        ErrorCode::malformed_data, [&] { open_split(open_safetensors(path), Split::train, 0); },
        "'train/labels': label ", " at 3", "0 to 9");
  }
}

TEST(SafetensorsData, ATensorOfATypeThatIsNotReadMattersOnlyWhereItIsNeeded) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.safetensors";
  write(path, tensor(DType::u8, {4, 3, 3}), tensor(DType::i64, {4}));
  const auto rename = [&](const char* from, const std::string& to) {
    std::string bytes = test::read_text(path);
    const std::size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    test::write_text(path, bytes.replace(at, to.size(), to));
  };
  rename("I64\"", "X64\"");
  const auto file = open_safetensors(path);
  ASSERT_EQ(file->arrays().size(), 2U);
  EXPECT_FALSE(file->arrays()[0].readable);
  EXPECT_EQ(file->arrays()[0].type_name, "X64");
  expect_error(
      ErrorCode::malformed_data, [&] { open_split(file, Split::train, 0); },
      "'train/labels': elements of type X64", "integers");
  record::write_safetensors(path, {{"extra", DType::i64, {0}, nullptr, 0},
                                   {"train/images", DType::u8, {1, 1, 1}, "\1", 1},
                                   {"train/labels", DType::u8, {1}, "\2", 1}});
  rename("I64\"", "F8_\"");
  EXPECT_EQ(open_split(open_safetensors(path), Split::train, 0)->count(), 1);
}

TEST(SafetensorsData, EveryTruncationIsAnErrorThatNamesTheFile) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.safetensors";
  write_safetensors_data(path, CountingSet(5), CountingSet(2), [](std::int64_t) {});
  const std::string whole = test::read_text(path);
  for (std::size_t size = 0; size < whole.size(); size += 3) {
    test::write_text(path, whole.substr(0, size));
    expect_error(
        ErrorCode::malformed_data, [&] { open_safetensors(path); }, path.string());
  }
}

TEST(SafetensorsData, AFileCutShortWhileItIsReadIsAnError) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "set.safetensors";
  write_safetensors_data(path, CountingSet(5), CountingSet(2), [](std::int64_t) {});
  const auto set = open_split(open_safetensors(path), Split::train, 0);
  std::filesystem::resize_file(path, 200);
  expect_error(
      ErrorCode::malformed_data, [&] { test::read_all(*set); }, path.string());
}

}  // namespace
}  // namespace hpcboot::data
