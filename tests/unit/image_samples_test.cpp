#include "datasets/image_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>

#include "support/data_folder.hpp"
#include "support/paths.hpp"

namespace hpcboot::data {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

const Normalization kOwnValues{{0.0F}, {1.0F / 255.0F}};

ImageOptions of_size(std::int64_t size, const Normalization& normalization) {
  ImageOptions options;
  options.size = size;
  options.normalization = normalization;
  return options;
}

std::vector<float> images_in(const Batch& batch) {
  const auto* const begin = batch.parts[0].data<float>();
  return {begin, begin + batch.parts[0].bytes.size() / sizeof(float)};
}

/// convert() with a mean of 0 and a standard deviation of 1/255: the pixels' own values.
std::vector<float> resize(const std::vector<std::uint8_t>& image, std::int64_t rows,
                          std::int64_t cols, std::int64_t size) {
  const ImageTransform transform(rows, cols, size, kOwnValues);
  std::vector<float> out(static_cast<std::size_t>(size * size));
  ImageTransform::Scratch scratch;
  transform.convert(image.data(), 0, out.data(), scratch);
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

TEST(LineKernels, AreTheSameBitForBitWithWideInstructions) {
#ifndef __x86_64__
  GTEST_SKIP() << "other processors may fuse a multiplication with an addition";
#endif
  std::vector<float> line, other;
  for (int i = 0; i < 41; ++i) {
    line.push_back(std::sin(static_cast<float>(i)) / 3.0F);
    other.push_back(std::cos(static_cast<float>(7 * i)) * 1e3F);
  }
  const LineKernels wide = line_kernels(), portable = portable_line_kernels();
  // All lengths: whole vectors, and what is left over at their end.
  for (std::size_t size = 0; size <= line.size(); ++size) {
    LineTaps taps;
    for (std::size_t i = 0; i < size; ++i) {
      taps.first.push_back(static_cast<std::int32_t>(i * 7 % line.size()));
      taps.second.push_back(static_cast<std::int32_t>(i * 11 % line.size()));
      taps.weight.push_back(static_cast<float>(i) / 42.0F);
    }
    std::vector<float> stretched(size + 1, -1.0F), expected(size + 1, -1.0F);
    wide.stretch(line.data(), taps, stretched.data());
    portable.stretch(line.data(), taps, expected.data());
    EXPECT_EQ(stretched, expected) << size;
    std::vector<float> blended(size + 1, -1.0F);
    expected.assign(size + 1, -1.0F);
    wide.blend(line.data(), other.data(), 0.3F, size, blended.data());
    portable.blend(line.data(), other.data(), 0.3F, size, expected.data());
    EXPECT_EQ(blended, expected) << size;
    if (size > 0) {
      EXPECT_FLOAT_EQ(expected[0], line[0] + (other[0] - line[0]) * 0.3F);
    }
  }
}

TEST(ImageTransform, NormalisesWithMnistsMeanAndDeviation) {
  const ImageTransform transform(1, 3, 3);
  std::vector<float> out(9);
  ImageTransform::Scratch scratch;
  const std::vector<std::uint8_t> image = {0, 51, 255};
  transform.convert(image.data(), 0, out.data(), scratch);
  out.resize(3);
  EXPECT_THAT(out, ElementsAre(FloatNear(-0.424213F, 1e-5F), FloatNear(0.224927F, 1e-5F),
                               FloatNear(2.821487F, 1e-5F)));
}

TEST(ImageTransform, RefusesInvalidSizes) {
  EXPECT_THROW(ImageTransform(28, 28, 0), std::invalid_argument);
  EXPECT_THROW(ImageTransform(0, 28, 28), std::invalid_argument);
  EXPECT_THROW(ImageTransform(28, -1, 28), std::invalid_argument);
  EXPECT_THROW(ImageTransform(28, std::int64_t{1} << 31, 28), std::invalid_argument);
}

class InterpolateTest : public ::testing::TestWithParam<std::array<std::int64_t, 3>> {};

TEST_P(InterpolateTest, EqualsPyTorch) {
  const auto [rows, cols, size] = GetParam();
  const ImageSet set = random_set(3, rows, cols);
  test::DataFolder folder;
  folder.write("in", set.pixels);
  const std::string command =
      std::string(test::python) + " " + test::source_file("tests/support/interpolate.py") + " " +
      std::to_string(rows) + " " + std::to_string(cols) + " " + std::to_string(size) + " < " +
      (folder.path() / "in").string() + " > " + (folder.path() / "out").string();
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) {
    GTEST_SKIP() << test::python << " with torch was not found: nothing to compare with";
  }
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const test::Bytes bytes = folder.read("out");
  std::vector<float> expected(bytes.size() / sizeof(float));
  std::memcpy(expected.data(), bytes.data(), bytes.size());

  const std::vector<std::int64_t> indices = {0, 1, 2};
  Batch batch;
  ImageSamples(std::make_shared<MemoryDataset>(set), of_size(size, mnist_normalization()))
      .fill({indices.data(), 3}, batch);
  EXPECT_THAT(images_in(batch), Pointwise(FloatNear(1e-5F), expected));
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

TEST(ImageTransform, NormalisesEachChannelByItself) {
  const ImageTransform transform(1, 1, 1, {{0.5F, 0.25F}, {0.5F, 0.25F}});
  ImageTransform::Scratch scratch;
  const float pixel = 1;
  float out[2];
  transform.convert(&pixel, 0, out, scratch);
  transform.convert(&pixel, 1, out + 1, scratch);
  EXPECT_THAT(out, ElementsAre(1, 3));
  const std::uint8_t byte = 255;
  transform.convert(&byte, 1, out, scratch);
  EXPECT_EQ(out[0], 3);
}

TEST(ImageSamples, AreInTheOrderOfTheIndices) {
  const ImageSet set = random_set(5, 2, 2);
  const std::vector<std::int64_t> indices = {4, 0, 4};
  Batch batch;
  batch.parts.resize(3);  // memory of an earlier batch
  batch.parts[0].bytes.assign(4000, 1);
  ImageSamples(std::make_shared<MemoryDataset>(set), of_size(2, kOwnValues))
      .fill({indices.data(), 3}, batch);
  EXPECT_EQ(batch.size, 3);
  ASSERT_EQ(batch.parts.size(), 2U);
  const auto* const labels = batch.parts[1].data<std::int64_t>();
  EXPECT_THAT(std::vector<std::int64_t>(labels, labels + 3), ElementsAre(4, 0, 4));
  std::vector<float> expected;
  for (const auto index : indices) {
    for (std::int64_t i = 0; i < 4; ++i) {
      expected.push_back(set.pixels[static_cast<std::size_t>(index * 4 + i)]);
    }
  }
  EXPECT_THAT(images_in(batch), Pointwise(FloatNear(1e-4F), expected));
}

TEST(ImageSamples, RefuseAnIndexThatIsNotOfTheSet) {
  const ImageSamples samples(std::make_shared<MemoryDataset>(random_set(5, 2, 2)),
                             of_size(2, mnist_normalization()));
  Batch batch;
  for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{5}}) {
    EXPECT_THROW(samples.fill({&index, 1}, batch), std::out_of_range);
  }
}

/// The batch of these images of one set, changed as `how` says.
std::vector<float> augmented(const Augmentation& how, int epoch,
                             const std::vector<std::int64_t>& indices) {
  ImageOptions options = of_size(6, kOwnValues);
  options.augmentation = how;
  Batch batch;
  ImageSamples(std::make_shared<MemoryDataset>(random_set(50, 6, 6)), options)
      .fill({indices.data(), static_cast<std::int64_t>(indices.size()), epoch}, batch);
  return images_in(batch);
}

TEST(Augmentation, DependsOnSeedEpochAndImageAlone) {
  const Augmentation how{2, true, 0, 9};
  const auto both = augmented(how, 3, {7, 20});
  const auto alone = augmented(how, 3, {20});
  EXPECT_EQ(std::vector<float>(both.begin() + 36, both.end()), alone);
  std::size_t differ = 0;
  for (std::int64_t i = 0; i < 50; ++i) {
    if (augmented(how, 4, {i}) != augmented(how, 3, {i})) ++differ;
  }
  EXPECT_GT(differ, 40U) << "another epoch makes other changes";
  Augmentation other = how;
  other.seed = 10;
  EXPECT_NE(augmented(other, 3, {7, 20}), both);
}

TEST(Augmentation, IsAWindowOfThePaddedImageOrItsMirrorImage) {
  const ImageSet set = random_set(50, 6, 6);
  std::set<std::array<std::int64_t, 3>> seen;
  for (int epoch = 1; epoch <= 40; ++epoch) {
    for (const std::int64_t index : {0, 7, 49}) {
      const auto found = augmented({2, true, 0, 1}, epoch, {index});
      int matches = 0;
      for (std::int64_t down = -2; down <= 2; ++down) {
        for (std::int64_t right = -2; right <= 2; ++right) {
          for (const std::int64_t mirror : {0, 1}) {
            std::vector<float> expected;
            for (std::int64_t y = 0; y < 6; ++y) {
              for (std::int64_t x = 0; x < 6; ++x) {
                const std::int64_t row = y + down;
                const std::int64_t col = (mirror == 1 ? 5 - x : x) + right;
                const bool inside = row >= 0 && row < 6 && col >= 0 && col < 6;
                expected.push_back(
                    inside ? set.pixels[static_cast<std::size_t>(index * 36 + row * 6 + col)] : 0);
              }
            }
            if (!std::equal(found.begin(), found.end(), expected.begin(),
                            [](float a, float b) { return std::abs(a - b) < 1e-3F; }))
              continue;
            ++matches;
            seen.insert({down, right, mirror});
          }
        }
      }
      EXPECT_EQ(matches, 1);
    }
  }
  EXPECT_GT(seen.size(), 40U) << "of the 50 that are possible";
}

TEST(Augmentation, ChangesFloatsAsItChangesBytes) {
  const ImageShape shape{2, 5, 7};
  std::vector<std::uint8_t> bytes(70);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  std::vector<float> floats(bytes.begin(), bytes.end());
  std::vector<std::uint8_t> scratch;
  for (std::uint64_t stream = 0; stream < 20; ++stream) {
    auto changed = bytes;
    auto same = floats;
    augment({3, true, 0, 1}, shape, PixelType::u8, Random(1, stream), changed.data(), scratch);
    augment({3, true, 0, 1}, shape, PixelType::f32, Random(1, stream),
            reinterpret_cast<std::uint8_t*>(same.data()), scratch);
    EXPECT_EQ(std::vector<float>(changed.begin(), changed.end()), same);
  }
}

TEST(Augmentation, TheWeightsOfMixUpAreBetaDistributed) {
  // The variance of a beta distribution with both parameters a is 1 / (4 (2a + 1)).
  for (const double alpha : {0.1, 0.5, 1.0}) {
    Random random(1, 2);
    double sum = 0;
    double squares = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) {
      const double x = draw_beta(alpha, random);
      sum += x;
      squares += (x - 0.5) * (x - 0.5);
    }
    EXPECT_NEAR(sum / kDraws, 0.5, 0.015) << alpha;
    EXPECT_NEAR(squares / kDraws, 1 / (4 * (2 * alpha + 1)), 0.01) << alpha;
  }
}

TEST(Augmentation, RefusesWeightsThatCannotBeDrawn) {
  Random random(1, 2);
  for (const double alpha : {1e-12, 0.0, -1.0, 1.5, std::nan("")}) {
    EXPECT_THROW(draw_beta(alpha, random), std::invalid_argument) << alpha;
  }
  EXPECT_GE(draw_beta(kLeastMixup, random), 0);
}

TEST(ImageSamples, NameWhatIsMixedIn) {
  ImageOptions options = of_size(2, kOwnValues);
  options.augmentation.mixup = 0.4;
  const ImageSamples samples(std::make_shared<MemoryDataset>(random_set(5, 2, 2)), options);
  const std::vector<std::int64_t> indices = {4, 0, 3};
  Batch batch;
  samples.fill({indices.data(), 3, 1}, batch);
  ASSERT_EQ(batch.parts.size(), 4U);
  const auto* const others = batch.parts[2].data<std::int64_t>();
  EXPECT_THAT(std::vector<std::int64_t>(others, others + 3), ElementsAre(2, 0, 1));
  const auto* const weights = batch.parts[3].data<float>();
  EXPECT_EQ(weights[0], weights[2]);
  EXPECT_GE(weights[0], 0);
  EXPECT_LE(weights[0], 1);
  const float first = weights[0];
  samples.fill({indices.data(), 3, 2}, batch);
  EXPECT_NE(batch.parts[3].data<float>()[0], first) << "another epoch draws another weight";
}

TEST(ImageSamples, HaveAChecksumOfAllLabels) {
  const auto sum = [](std::vector<std::uint8_t> labels) {
    std::vector<std::uint8_t> pixels(labels.size());
    const auto set = std::make_shared<MemoryDataset>(ImageShape{1, 1, 1}, kClasses,
                                                     std::move(pixels), std::move(labels));
    const ImageSamples samples(set, {});
    return std::pair(samples.checksum(), samples.checksum_of_labels());
  };
  std::vector<std::uint8_t> labels(1000, 3);
  const auto before = sum(labels);
  EXPECT_EQ(sum(labels), before);
  labels[1] = 4;  // none of the eight
  EXPECT_EQ(sum(labels).first, before.first);
  EXPECT_NE(sum(labels).second, before.second);
}

/// Two images of 1 x 2 floats.
class FloatSet : public Dataset {
 public:
  explicit FloatSet(std::array<float, 4> pixels)
      : Dataset(2, ImageShape{1, 1, 2}, PixelType::f32), pixels_(pixels) {}

 private:
  void read_checked(const std::int64_t* indices, std::int64_t number, std::uint8_t* pixels,
                    std::uint8_t* labels) const override {
    for (std::int64_t i = 0; i < number; ++i) {
      std::memcpy(pixels + i * 8, pixels_.data() + indices[i] * 2, 8);
      labels[i] = 0;
    }
  }

  std::array<float, 4> pixels_;
};

TEST(UnusualPixels, AreFloatsThatAreNotFrom0To1) {
  EXPECT_FALSE(unusual_pixels(FloatSet({0, 1, 0.5F, 0.25F})));
  const auto expect_range = [](std::array<float, 4> pixels, float least, float greatest,
                               bool has_nan) {
    const auto range = unusual_pixels(FloatSet(pixels));
    ASSERT_TRUE(range);
    EXPECT_EQ(range->least, least);
    EXPECT_EQ(range->greatest, greatest);
    EXPECT_EQ(range->has_nan, has_nan);
  };
  expect_range({0, NAN, 0.5F, 1}, 0, 1, true);
  expect_range({0.5F, 0, 255, 1}, 0, 255, false);
  expect_range({7, 8, 9, 8}, 7, 9, false);
  expect_range({NAN, 0.5F, -2, 0.75F}, -2, 0.75F, true);
  expect_range({NAN, NAN, NAN, NAN}, INFINITY, -INFINITY, true);
  EXPECT_FALSE(unusual_pixels(MemoryDataset(random_set(2, 2, 2)))) << "bytes";
}

}  // namespace
}  // namespace hpcboot::data
