#include "datasets/image_batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>

#include "support/data_folder.hpp"

namespace hpcboot::data {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

/// convert() with a mean of 0 and a standard deviation of 1/255: the pixels' own values.
std::vector<float> resize(const std::vector<std::uint8_t>& image, std::int64_t rows,
                          std::int64_t cols, std::int64_t size) {
  const ImageTransform transform(rows, cols, size, 0.0F, 1.0F / 255.0F);
  std::vector<float> out(static_cast<std::size_t>(size * size));
  ImageTransform::Scratch scratch;
  transform.convert(image.data(), out.data(), scratch);
  return out;
}

ImageSet random_set(std::int64_t count, std::int64_t rows, std::int64_t cols) {
  ImageSet set;
  set.count = count;
  set.rows = rows;
  set.cols = cols;
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < count * rows * cols; ++i) {
    state = state * 1664525 + 1013904223;
    set.pixels.push_back(static_cast<std::uint8_t>(state >> 24));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    set.labels.push_back(static_cast<std::uint8_t>(i % 10));
  }
  return set;
}

TEST(ImageTransform, ResizesAsComputedByHand) {
  struct Case {
    const char* description;
    std::vector<std::uint8_t> image;
    std::int64_t rows;
    std::int64_t cols;
    std::int64_t size;
    std::vector<float> expected;
  };
  const Case cases[] = {
      {"one pixel is repeated", {7}, 1, 1, 2, {7, 7, 7, 7}},
      {"the same size changes nothing", {1, 2, 3, 4}, 2, 2, 2, {1, 2, 3, 4}},
      // Outputs lie at -1/4, 1/4, 3/4, 5/4 of the two inputs; the first and last are edges.
      {"2 to 4",
       {0, 100, 200, 100},
       2,
       2,
       4,
       {0, 25, 75, 100, 50, 62.5F, 87.5F, 100, 150, 137.5F, 112.5F, 100, 200, 175, 125, 100}},
      // Outputs lie at 1/2 and 5/2 of four inputs: pairs are averaged.
      {"4 to 2",
       {0, 10, 20, 30, 0, 10, 20, 30, 40, 50, 60, 70, 40, 50, 60, 70},
       4,
       4,
       2,
       {5, 25, 45, 65}},
      // Outputs lie at 1 of three rows and at 1/2 and 5/2 ... of each column: no antialiasing.
      {"3 x 6 to 1", {9, 9, 9, 9, 9, 9, 9, 9, 4, 8, 9, 9, 9, 9, 9, 9, 9, 9}, 3, 6, 1, {6}},
      {"rows and columns apart", {0, 0, 0, 0, 90, 90, 90, 90}, 2, 4, 2, {0, 0, 90, 90}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.description);
    EXPECT_THAT(resize(c.image, c.rows, c.cols, c.size), Pointwise(FloatNear(1e-4F), c.expected));
  }
}

TEST(ImageTransform, NormalisesWithMnistsMeanAndDeviation) {
  const ImageTransform transform(1, 3, 3);
  std::vector<float> out(9);
  ImageTransform::Scratch scratch;
  const std::vector<std::uint8_t> image = {0, 51, 255};
  transform.convert(image.data(), out.data(), scratch);
  out.resize(3);
  EXPECT_THAT(out, ElementsAre(FloatNear(-0.424213F, 1e-5F), FloatNear(0.224927F, 1e-5F),
                               FloatNear(2.821487F, 1e-5F)));
}

TEST(ImageTransform, RefusesInvalidSizes) {
  EXPECT_THROW(ImageTransform(28, 28, 0), std::invalid_argument);
  EXPECT_THROW(ImageTransform(0, 28, 28), std::invalid_argument);
  EXPECT_THROW(ImageTransform(28, -1, 28), std::invalid_argument);
}

class InterpolateTest : public ::testing::TestWithParam<std::array<std::int64_t, 3>> {};

TEST_P(InterpolateTest, EqualsPyTorch) {
  const auto [rows, cols, size] = GetParam();
  const ImageSet set = random_set(3, rows, cols);
  test::DataFolder folder;
  folder.write("in", set.pixels);
  const std::string command = std::string(HPCBOOT_TEST_PYTHON) + " " + HPCBOOT_TEST_INTERPOLATE +
                              " " + std::to_string(rows) + " " + std::to_string(cols) + " " +
                              std::to_string(size) + " < " + (folder.path() / "in").string() +
                              " > " + (folder.path() / "out").string();
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) {
    GTEST_SKIP() << HPCBOOT_TEST_PYTHON << " with torch was not found: nothing to compare with";
  }
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const test::Bytes bytes = folder.read("out");
  std::vector<float> expected(bytes.size() / sizeof(float));
  std::memcpy(expected.data(), bytes.data(), bytes.size());

  const std::vector<std::int64_t> indices = {0, 1, 2};
  Batch batch;
  ImageTransform::Scratch scratch;
  fill_batch(MemoryDataset(set), indices.data(), 3, ImageTransform(rows, cols, size), scratch,
             batch);
  EXPECT_THAT(batch.images, Pointwise(FloatNear(1e-5F), expected));
}

INSTANTIATE_TEST_SUITE_P(Sizes, InterpolateTest,
                         ::testing::Values(std::array<std::int64_t, 3>{28, 28, 128},
                                           std::array<std::int64_t, 3>{28, 28, 28},
                                           std::array<std::int64_t, 3>{28, 28, 13},
                                           std::array<std::int64_t, 3>{5, 9, 37}),
                         [](const auto& param) {
                           return std::to_string(param.param[0]) + "x" +
                                  std::to_string(param.param[1]) + "to" +
                                  std::to_string(param.param[2]);
                         });

TEST(FillBatch, TakesImagesInTheOrderOfTheIndices) {
  const ImageSet set = random_set(5, 2, 2);
  const ImageTransform transform(2, 2, 2, 0.0F, 1.0F / 255.0F);
  const std::vector<std::int64_t> indices = {4, 0, 4};
  Batch batch;
  batch.images.assign(1000, 1.0F);  // memory of an earlier batch
  ImageTransform::Scratch scratch;
  fill_batch(MemoryDataset(set), indices.data(), 3, transform, scratch, batch);
  EXPECT_EQ(batch.size, 3);
  EXPECT_THAT(batch.labels, ElementsAre(4, 0, 4));
  std::vector<float> expected;
  for (const auto index : indices) {
    for (std::int64_t i = 0; i < 4; ++i) {
      expected.push_back(set.pixels[static_cast<std::size_t>(index * 4 + i)]);
    }
  }
  EXPECT_THAT(batch.images, Pointwise(FloatNear(1e-4F), expected));
}

TEST(FillBatch, RefusesAnIndexThatIsNotOfTheSet) {
  const ImageSet set = random_set(5, 2, 2);
  const ImageTransform transform(2, 2, 2);
  Batch batch;
  ImageTransform::Scratch scratch;
  for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{5}}) {
    EXPECT_THROW(fill_batch(MemoryDataset(set), &index, 1, transform, scratch, batch),
                 std::out_of_range);
  }
}

}  // namespace
}  // namespace hpcboot::data
