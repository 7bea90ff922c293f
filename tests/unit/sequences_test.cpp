// Pairs of sequences: computed ones, in files, and in the loader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>

#include "datasets/array_source.hpp"
#include "datasets/batch_loader.hpp"
#include "datasets/convert.hpp"
#include "datasets/formats.hpp"
#include "datasets/inspect.hpp"
#include "datasets/sequence_samples.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::data {
namespace {

using record::DType;
using test::expect_error;
using test::TemporaryFolder;
using ::testing::HasSubstr;

constexpr const char* kComputed = "sequences:30x2x5x16";

/// Sources and targets of all pairs, as bytes.
std::vector<std::uint8_t> all_of(const SequenceSet& set) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(set.count()));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  std::vector<std::uint8_t> sources(indices.size() * set.source().bytes());
  std::vector<std::uint8_t> targets(indices.size() * set.target().bytes());
  set.read(indices.data(), set.count(), sources.data(), targets.data());
  sources.insert(sources.end(), targets.begin(), targets.end());
  return sources;
}

TEST(Sequences, AreComputedAlikeInAnyOrder) {
  const auto set = open_sequences(kComputed, Split::train);
  EXPECT_EQ(set->count(), 30);
  EXPECT_EQ(to_string(set->source().shape), "2x16");
  EXPECT_EQ(to_string(set->target().shape), "5x16");
  EXPECT_EQ(open_sequences(kComputed, Split::test)->count(), 5);
  EXPECT_EQ(open_sequences(kComputed, Split::train, 7)->count(), 7);
  EXPECT_NE(all_of(*open_sequences(kComputed, Split::test)),
            all_of(*open_sequences(kComputed, Split::train, 5)));
  const auto all = all_of(*set);
  const std::int64_t last = 29;
  std::vector<std::uint8_t> source(set->source().bytes());
  std::vector<std::uint8_t> target(set->target().bytes());
  set->read(&last, 1, source.data(), target.data());
  EXPECT_TRUE(std::equal(target.rbegin(), target.rend(), all.rbegin()));
  const std::int64_t stray = 30;
  EXPECT_THROW(set->read(&stray, 1, source.data(), target.data()), std::out_of_range);
}

TEST(Sequences, AreTooManyForMemoryBeforeTheirBytesOverflow) {
  // 2^40 rows of 2^26 numbers: 2^68 bytes.
  const auto set = open_sequences("sequences:1099511627776x65536x1x1024", Split::train);
  const auto arrays = arrays_of(*set, *set);
  EXPECT_THROW(read_whole(arrays[0], [](std::int64_t) {}), std::bad_alloc);
}

TEST(Sequences, HaveSpreadIndicesWithoutOverflow) {
  EXPECT_EQ(spread_indices(3), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(spread_indices(9), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(spread_indices(20), (std::vector<std::int64_t>{0, 2, 5, 7, 10, 12, 15, 17}));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(spread_indices(most).back(), most / 8 * 7 + 6);
}

TEST(Sequences, HaveVectorsOfAboutUnitVariance) {
  const auto set = open_sequences("sequences:200x1x4x64", Split::train);
  const auto bytes = all_of(*set);
  double squares = 0;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    ASSERT_EQ(value * 1024, std::floor(value * 1024)) << "exact on every machine";
    squares += double{value} * value;
  }
  EXPECT_NEAR(squares / (static_cast<double>(bytes.size()) / sizeof(float)), 1.125, 0.1);
}

TEST(Sequences, ANameThatDoesNotFitIsAnError) {
  for (const char* name : {"sequences:", "sequences:3", "sequences:0x1x1x1", "sequences:3x1x1",
                           "sequences:3x1x1x99999", "sequences:3x1x1x1x1", "sequences:ax1x1x1",
                           "sequences:3x1x65536x65536"}) {
    expect_error(
        ErrorCode::missing_data, [&] { open_sequences(name, Split::train); }, name,
        "sequences:NxSxTxE");
  }
}

TEST(Sequences, GoFromAnyFormatIntoAnyOther) {
  const TemporaryFolder folder;
  const auto expected = all_of(*open_sequences(kComputed, Split::train));
  const auto expected_test = all_of(*open_sequences(kComputed, Split::test));
  int converted = 0;
  std::string before = kComputed;
  for (const char* suffix : {".h5", ".safetensors", ".pt", ".h5"}) {
    const std::string place = (folder.path() / (std::to_string(converted) + suffix)).string();
    const auto& all = formats();
    const auto format = std::find_if(all.begin(), all.end(),
                                     [&](const Format& one) { return one.has_name(place); });
    if (!format->missing.empty()) continue;
    ConvertOptions options;
    if (converted == 3) options.storage = {7, 4};
    EXPECT_EQ(convert(before, place, options), 35) << before << " to " << place;
    EXPECT_EQ(all_of(*open_sequences(place, Split::train)), expected) << place;
    EXPECT_EQ(all_of(*open_sequences(place, Split::test)), expected_test) << place;
    EXPECT_EQ(open_sequences(place, Split::train, 3)->count(), 3);
    EXPECT_THAT(to_text(inspect(place, 2), 80).str(),
                HasSubstr("train: 30 pairs of sequences, 2x16 (float32) to 5x16 (float32)"));
    before = place;
    ++converted;
  }
  EXPECT_GE(converted, 1);
}

TEST(Sequences, AreNotImages) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "s.safetensors").string();
  convert(kComputed, file, {});
  expect_error(
      ErrorCode::missing_data, [] { open_dataset(kComputed, Split::train); }, "contains sequences",
      "--task transformer");
  expect_error(
      ErrorCode::missing_data, [&] { open_dataset(file, Split::train); }, "no array 'train/images'",
      "train/source");
  expect_error(
      ErrorCode::missing_data, [] { open_sequences("synthetic:9x1x8x8", Split::train); },
      "contains images", "sequences:");
  expect_error(
      ErrorCode::invalid_model_use, [&] { convert(kComputed, folder.path() / "mnist", {}); },
      "sequences for", "HDF5, safetensors or .pt");
}

struct Array {
  const char* name;
  DType type;
  std::vector<std::int64_t> shape;
};

std::string file_with(const TemporaryFolder& folder, const std::vector<Array>& arrays) {
  const std::string file = (folder.path() / "set.safetensors").string();
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<record::TensorView> views;
  for (const Array& array : arrays) {
    std::size_t size = record::size_of(array.type);
    for (const std::int64_t side : array.shape) size *= static_cast<std::size_t>(side);
    bytes.emplace_back(size);
    views.push_back({array.name, array.type, array.shape, bytes.back().data(), size});
  }
  record::write_safetensors(file, views);
  return file;
}

TEST(Sequences, ThatDoNotMatchAreNamed) {
  const TemporaryFolder folder;
  const auto expect = [&](const std::vector<Array>& arrays, ErrorCode code, const char* found) {
    const std::string file = file_with(folder, arrays);
    expect_error(
        code, [&] { open_sequences(file, Split::train); }, found);
  };
  const Array source{"train/source", DType::f32, {4, 1, 8}};
  expect({source}, ErrorCode::missing_data, "no array 'train/target'");
  expect({source, {"train/target", DType::f32, {5, 3, 8}}}, ErrorCode::malformed_data,
         "'train/target': 5 sequences");
  expect({source, {"train/target", DType::f32, {4, 3, 7}}}, ErrorCode::malformed_data,
         "vectors of 7 numbers");
  expect({source, {"train/target", DType::f32, {4, 24}}}, ErrorCode::malformed_data,
         "the shape 4 x 24");
  expect({source, {"train/target", DType::i32, {4, 3, 8}}}, ErrorCode::malformed_data,
         "x.astype(\"float32\")");
  expect({source, {"train/target", DType::f32, {}}}, ErrorCode::malformed_data, "the shape scalar");
}

TEST(Sequences, TheLoaderKeepsTheirType) {
  const TemporaryFolder folder;
  for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const std::string file =
        file_with(folder, {{"train/source", type, {4, 1, 8}}, {"train/target", type, {4, 3, 8}}});
    const SequenceSamples samples(open_sequences(file, Split::train));
    EXPECT_EQ(samples.kind(), "sequences of 1x8 to 3x8");
    BatchLoader loader(samples, {3, 1}, 2);
    Batch batch;
    ASSERT_TRUE(loader.next(batch));
    EXPECT_EQ(batch.parts[0].shape, (std::vector<std::int64_t>{2, 1, 8}));
    EXPECT_EQ(batch.parts[1].shape, (std::vector<std::int64_t>{2, 3, 8}));
    EXPECT_EQ(batch.parts[1].type, type);
  }
}

}  // namespace
}  // namespace hpcboot::data
