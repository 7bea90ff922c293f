// A model in several files with an index, as the libraries of Hugging Face write it.
#include "record/sharded_safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "json/bounded_json.hpp"
#include "support/errors.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::record {
namespace {

using test::error_of;
using test::read_text;
using test::TemporaryFolder;
using test::write_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kIndex = "model.safetensors.index.json";

/// A file with tensors w0, w1, … of these lengths.
void write_model(const std::filesystem::path& file, const std::vector<std::int64_t>& lengths) {
  std::vector<std::vector<float>> data;
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    data.emplace_back(static_cast<std::size_t>(lengths[i]));
    std::iota(data.back().begin(), data.back().end(), 100.F * static_cast<float>(i));
  }
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    views.push_back({"w" + std::to_string(i),
                     DType::f32,
                     {lengths[i]},
                     data[i].data(),
                     data[i].size() * sizeof(float)});
  }
  write_safetensors(file, std::move(views), {{"format", "pt"}, {"model", "m"}, {"crc32", "0"}});
}

TEST(ShardedSafetensors, AreSplitEvenlyAndMergedAgain) {
  const TemporaryFolder folder;
  const auto whole = folder.path() / "whole.safetensors",
             merged = folder.path() / "merged.safetensors";
  write_model(whole, {50, 7, 30, 0, 20});
  split_safetensors(tensors_of_file(whole), folder.path(), "model", 2);
  const ShardedSafetensors parts(folder.path(), "model");
  ASSERT_EQ(parts.files().size(), 2U);
  EXPECT_EQ(parts.files()[0].path().filename(), "model-00001-of-00002.safetensors");
  EXPECT_EQ(parts.files()[0].metadata().at("model"), "m");
  EXPECT_EQ(parts.files()[0].metadata().count("crc32"), 0U) << "that of the whole file";
  // 50 + 0 (or 7), and 30 + 20 + 7.
  for (const SafetensorsFile& file : parts.files()) {
    std::uint64_t bytes = 0;
    for (const TensorInfo& one : file.tensors()) bytes += one.end - one.begin;
    EXPECT_GE(bytes, 200U);
    EXPECT_LE(bytes, 228U);
  }
  float element = 0;
  parts.read_part("w2", 4 * sizeof element, sizeof element, &element);
  EXPECT_EQ(element, 204.F);

  merge_safetensors(tensors_of_index(folder.path(), "model"), merged);
  const SafetensorsFile again(merged);
  EXPECT_EQ(again.metadata().at("model"), "m");
  std::vector<float> data(50);
  ASSERT_EQ(again.tensors().size(), 5U);
  for (const TensorInfo& one : again.tensors()) {
    if (one.name == "w0") again.read(one, data.data());
  }
  EXPECT_EQ(data[49], 49.F);
  // Byte for byte the original, but for the checksum.
  write_text(whole, read_text(merged));
  split_safetensors(tensors_of_file(merged), folder.path(), "model", 3);
  merge_safetensors(tensors_of_index(folder.path(), "model"), merged);
  EXPECT_EQ(read_text(merged), read_text(whole));
}

TEST(ShardedSafetensors, TakesOfAFileTheTensorsWithAPrefix) {
  const TemporaryFolder folder;
  const auto whole = folder.path() / "whole.safetensors", part = folder.path() / "part.safetensors";
  const float data[] = {1, 2, 3};
  write_safetensors(whole, {{"model.a", DType::f32, {2}, data, 8},
                            {"model.b", DType::f32, {1}, data + 2, 4},
                            {"optimizer.a.momentum", DType::f32, {2}, data + 1, 8}});
  merge_safetensors(tensors_of_file(whole, "model."), part);
  const SafetensorsFile taken(part);
  ASSERT_EQ(taken.tensors().size(), 2U);
  EXPECT_EQ(taken.tensors()[1].name, "b");
  float value = 0;
  taken.read(taken.tensors()[1], &value);
  EXPECT_EQ(value, 3.F);
}

TEST(ShardedSafetensors, HaveAnIndexThatOthersRead) {
  const TemporaryFolder folder;
  write_model(folder.path() / shard_file_name("model", 0, 1), {2, 1});
  write_index(folder.path(), "model", 1, {{"epoch", "3"}});
  EXPECT_EQ(read_text(folder.path() / kIndex),
            "{\n"
            "  \"metadata\": {\n"
            "    \"epoch\": \"3\",\n"
            "    \"total_size\": 12\n"
            "  },\n"
            "  \"weight_map\": {\n"
            "    \"w0\": \"model-00001-of-00001.safetensors\",\n"
            "    \"w1\": \"model-00001-of-00001.safetensors\"\n"
            "  }\n"
            "}\n");
  EXPECT_EQ(ShardedSafetensors(folder.path(), "model").metadata().at("epoch"), "3");
}

TEST(ShardedSafetensors, AreRefusedIfTheIndexAndTheFilesDiffer) {
  const TemporaryFolder folder;
  const std::string file = shard_file_name("model", 0, 1);
  write_model(folder.path() / file, {2, 1});
  const std::string place = "\"" + file + "\"";
  const std::pair<std::string, const char*> cases[] = {
      {"[1]", "has no weight_map"},
      {"{}", "has no weight_map"},
      {R"({"weight_map": []})", "has no weight_map"},
      {R"({"weight_map": {"w0": 7}})", "has tensor 'w0' in file ''"},
      {R"({"weight_map": {"w0": "../other/m.safetensors"}})", "in file '../other/m.safetensors'"},
      {R"({"weight_map": {"w0": "/etc/passwd"}})", "in file '/etc/passwd'"},
      {R"({"weight_map": {"w0": ".."}})", "in file '..'"},
      {R"({"weight_map": {"w0": "absent.safetensors"}})", "absent.safetensors"},
      {R"({"weight_map": {"w0": )" + place + "}}", "lacks tensor 'w1' of"},
      {R"({"weight_map": {"w0": )" + place + R"(, "w1": )" + place + R"(, "w2": )" + place + "}}",
       "has tensor 'w2' in"},
      {R"({"weight_map": {"w0": )" + std::string(80'000, '['), "nested"},
  };
  for (const auto& [text, found] : cases) {
    write_text(folder.path() / kIndex, text);
    const auto error = error_of([&] { ShardedSafetensors(folder.path(), "model"); });
    ASSERT_TRUE(error) << text.substr(0, 100);
    EXPECT_THAT(error->found(), HasSubstr(found));
  }
}

TEST(ShardedSafetensors, OfWhichOneIsMissingHaveNoIndex) {
  const TemporaryFolder folder;
  write_model(folder.path() / shard_file_name("model", 0, 2), {2});
  const auto error = error_of([&] { write_index(folder.path(), "model", 2); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unreadable_file);
  EXPECT_THAT(error->found(), HasSubstr("model-00002-of-00002.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / kIndex));
  // Nor if two have the same tensor.
  write_model(folder.path() / shard_file_name("model", 1, 2), {3});
  EXPECT_THAT(error_of([&] { write_index(folder.path(), "model", 2); })->found(),
              HasSubstr("has tensor 'w0', as another file"));
}

TEST(Spread, IsAsEvenAsTheLargestPartAllows) {
  EXPECT_THAT(spread({}, 3), ElementsAre());
  EXPECT_THAT(spread({5, 5, 5, 5}, 1), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(spread({1, 2, 3, 6}, 2), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(spread({9, 1, 1}, 4), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace hpcboot::record
