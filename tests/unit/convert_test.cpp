// trainer convert and trainer inspect, without the program around them.
#include "datasets/convert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "datasets/inspect.hpp"
#include "datasets/terminal_image.hpp"
#include "record/sharded_safetensors.hpp"
#include "support/expect_error.hpp"
#include "support/image_sets.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::data {
namespace {

using test::expect_error;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kSource = "synthetic:30x1x9x8";

bool writes(const Format& format) {
  return format.write != nullptr;
}

/// A name in each format that this build writes.
std::vector<std::string> targets(const TemporaryFolder& folder, const std::string& name) {
  std::vector<std::string> all;
  for (const char* suffix : {"", ".h5", ".safetensors", ".pt"}) {
    const std::string place = (folder.path() / (name + suffix)).string();
    for (const Format& format : formats()) {
      if (format.has_name(place) && writes(format)) all.push_back(place);
    }
  }
  return all;
}

TEST(Convert, AnyFormatGoesIntoAnyOther) {
  const TemporaryFolder folder;
  const test::Read expected = test::read_all(*open_dataset(kSource, Split::train));
  const test::Read expected_test = test::read_all(*open_dataset(kSource, Split::test));
  int converted = 0;
  for (const std::string& first : targets(folder, "first")) {
    EXPECT_EQ(convert(kSource, first, {}), 35);
    for (const std::string& second : targets(folder, "second")) {
      SCOPED_TRACE(first + " to " + second);
      ConvertOptions options;
      options.replace = true;
      EXPECT_EQ(convert(first, second, options), 35);
      EXPECT_TRUE(test::read_all(*open_dataset(second, Split::train)) == expected);
      EXPECT_TRUE(test::read_all(*open_dataset(second, Split::test)) == expected_test);
      ++converted;
    }
  }
  EXPECT_GE(converted, 4);
}

TEST(Convert, ReportsItsProgress) {
  const TemporaryFolder folder;
  for (const std::string& target : targets(folder, "set")) {
    std::vector<std::int64_t> told;
    ConvertOptions options;
    options.progress = [&](std::int64_t done, std::int64_t total) {
      EXPECT_EQ(total, 35);
      told.push_back(done);
    };
    convert(kSource, target, options);
    EXPECT_THAT(told, ElementsAre(30, 35)) << target;
  }
}

TEST(Convert, OverwritesNothingUnlessAsked) {
  const TemporaryFolder folder;
  for (const std::string& target : targets(folder, "set")) {
    convert(kSource, target, {});
    expect_error(
        ErrorCode::unwritable_output, [&] { convert("synthetic:12x1x4x4", target, {}); },
        "already exists", "--force");
    EXPECT_EQ(open_dataset(target, Split::train)->count(), 30);
    ConvertOptions force;
    force.replace = true;
    convert("synthetic:12x1x4x4", target, force);
    EXPECT_EQ(open_dataset(target, Split::train)->count(), 12);
    expect_error(
        ErrorCode::unwritable_output, [&] { convert(target, target, force); },
        "is also the source");
    EXPECT_EQ(open_dataset(target, Split::train)->count(), 12);
  }
}

TEST(Convert, ThatFailsWhileItReplacesLeavesTheOldFiles) {
  const TemporaryFolder folder;
  const auto place = folder.path() / "set";
  convert(kSource, place.string(), {});
  const auto in_the_way = place / "train-labels-idx1-ubyte";
  const auto away = folder.path() / "away";
  ConvertOptions force;
  force.replace = true;
  // Whichever file comes last, the others are left.
  std::filesystem::rename(in_the_way, away);
  std::filesystem::create_directory(in_the_way);
  std::ofstream(in_the_way / "mine") << "text";
  expect_error(
      ErrorCode::unwritable_output, [&] { convert("synthetic:12x1x4x4", place.string(), force); },
      "train-labels-idx1-ubyte' is a folder");
  EXPECT_TRUE(std::filesystem::exists(in_the_way / "mine"));
  std::filesystem::remove_all(in_the_way);
  std::filesystem::rename(away, in_the_way);
  EXPECT_EQ(open_dataset(place.string(), Split::train)->count(), 30);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place), {}), 4);
}

TEST(Convert, StorageIsHdf5sAlone) {
  const TemporaryFolder folder;
  ConvertOptions options;
  options.storage.compress = 3;
  const std::string place = (folder.path() / "set.safetensors").string();
  expect_error(
      ErrorCode::invalid_model_use, [&] { convert(kSource, place, options); }, "safetensors",
      "--compress");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Convert, APlaceThatCannotBeWrittenIsUnwritableOutput) {
  const TemporaryFolder folder;
  const auto closed = folder.path() / "closed";
  std::filesystem::create_directory(closed);
  std::filesystem::permissions(closed, std::filesystem::perms::none);
  ConvertOptions force;
  force.replace = true;
  {
    const test::WithoutRoot user;
    if (!user.bound()) GTEST_SKIP() << "root cannot become another user here";
    for (const ConvertOptions& options : {ConvertOptions{}, force}) {
      for (const std::string& target : targets(folder, "closed/set")) {
        expect_error(
            ErrorCode::unwritable_output, [&] { convert(kSource, target, options); }, "closed",
            "Permission denied");
      }
    }
  }
  std::filesystem::permissions(closed, std::filesystem::perms::owner_all);
  for (const ConvertOptions& options : {ConvertOptions{}, force}) {
    for (const std::string& target : targets(folder, std::string(300, 'n'))) {
      expect_error(
          ErrorCode::unwritable_output, [&] { convert(kSource, target, options); }, "nnn",
          "File name too long");
    }
  }
}

TEST(Convert, AFailureLeavesNothing) {
  const TemporaryFolder folder;
  for (const std::string& target : targets(folder, "set")) {
    ConvertOptions options;
    options.progress = [](std::int64_t, std::int64_t) { throw std::runtime_error("stop"); };
    EXPECT_THROW(convert(kSource, target, options), std::runtime_error) << target;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << target;
  }
}

TEST(Convert, RemovesWhatAKilledOneLeft) {
  const TemporaryFolder folder;
  for (const bool exists : {false, true}) {
    for (const std::string& target : targets(folder, "set")) {
      SCOPED_TRACE(target);
      const bool is_folder = std::filesystem::path(target).extension().empty();
      if (exists && is_folder) std::filesystem::create_directory(target);
      const pid_t child = ::fork();
      if (child == 0) {
        ConvertOptions options;
        options.progress = [](std::int64_t, std::int64_t) { ::_exit(0); };  // no destructor runs
        convert(kSource, target, options);
        ::_exit(1);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
      const auto place = exists && is_folder ? std::filesystem::path(target) : folder.path();
      EXPECT_FALSE(std::filesystem::is_empty(place));
      convert(kSource, target, {});
      for (const auto& entry : std::filesystem::directory_iterator(place))
        EXPECT_NE(entry.path().filename().string().front(), '.') << entry.path();
      std::filesystem::remove_all(target);
      EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    }
  }
}

TEST(Inspect, ShowsArraysAndImages) {
  const TemporaryFolder folder;
  const std::string place = (folder.path() / "set.safetensors").string();
  convert(kSource, place, {});
  const std::string text = to_text(inspect(place, 2), 80).str();
  EXPECT_THAT(text, HasSubstr("set.safetensors: safetensors\n"));
  EXPECT_THAT(text, HasSubstr("train/images  uint8  30 x 1 x 9 x 8  -      -\n"));
  EXPECT_THAT(text, HasSubstr("test: 5 images of 1x9x8 (uint8), 10 classes\nlabel "));
  const Json json = to_json(inspect(place, 1));
  EXPECT_EQ(json["format"], "safetensors");
  EXPECT_EQ(json["arrays"].size(), 4U);
  EXPECT_EQ(json["halves"][0]["images"], 30);
  EXPECT_TRUE(json["remark"].is_null());
}

TEST(Inspect, ShowsFilesThatAreNotDataSetsToo) {
  const TemporaryFolder folder;
  const auto place = folder.path() / "model.safetensors";
  const float weight[] = {1, 2};
  record::write_safetensors(place, {{"conv.weight", record::DType::f32, {2}, weight, 8}});
  const Inspection found = inspect(place.string(), 2);
  ASSERT_EQ(found.arrays.size(), 1U);
  EXPECT_TRUE(found.splits.empty());
  EXPECT_THAT(to_text(found, 80).str(), HasSubstr("conv.weight  float32  2"));
  EXPECT_THAT(to_text(found, 80).str(), HasSubstr("no data set to train on: "));
  expect_error(
      ErrorCode::missing_data, [] { inspect("data/no-such-file.h5", 1); }, "no-such-file.h5");
}

TEST(Inspect, ShowsModelsInSeveralFilesByTheirFolderAndIndex) {
  const TemporaryFolder folder;
  const auto part = folder.path() / record::shard_file_name("model", 0, 1);
  const float weight[] = {1, 2};
  record::write_safetensors(part, {{"conv.weight", record::DType::f32, {2}, weight, 8}});
  record::write_index(folder.path(), "model", 1);
  const auto index = folder.path() / record::index_file_name("model");
  for (const auto& place : {folder.path(), index}) {
    const std::string text = to_text(inspect(place.string(), 2), 80).str();
    EXPECT_THAT(text, HasSubstr("conv.weight  float32  2"));
    EXPECT_THAT(text, HasSubstr("no data set to train on: a model in several files"));
  }
  test::write_text(index, "{}");
  expect_error(
      ErrorCode::malformed_data, [&] { inspect(folder.path().string(), 2); }, "no weight_map");
}

TEST(Inspect, NamesNeitherSteerTheTerminalNorBreakALine) {
  const TemporaryFolder folder;
  const std::string place = (folder.path() / "model.safetensors").string();
  const float weight[] = {1, 2};
  record::write_safetensors(place, {{"evil\x1b[2J\nname", record::DType::f32, {2}, weight, 8},
                                    {"größe", record::DType::f32, {2}, weight, 8}});
  const std::string text = to_text(inspect(place, 0), 80).str();
  EXPECT_THAT(text, HasSubstr("\nevil\\x1b[2J\\nname  float32  2      -      -\n"));
  EXPECT_THAT(text, HasSubstr("\ngröße              float32  2      -      -\n"));
  EXPECT_THAT(text, HasSubstr("it has evil\\x1b[2J\\nname, größe; "));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Inspect, ShowsDataWithoutAFile) {
  const Inspection found = inspect(kSource, 0);
  EXPECT_TRUE(found.arrays.empty());
  ASSERT_EQ(found.splits.size(), 2U);
  EXPECT_THAT(to_text(found, 80).str(),
              HasSubstr("train: 30 images of 1x9x8 (uint8), 10 classes\n"));
}

TEST(TerminalImage, IsDarkWhereTheImageIs) {
  std::vector<std::uint8_t> pixels(4 * 4, 0);
  std::fill(pixels.begin(), pixels.begin() + 8, 255);
  EXPECT_THAT(draw_image(pixels.data(), {1, 4, 4}, PixelType::u8, 28), ElementsAre("████", "    "));
  EXPECT_THAT(draw_image(pixels.data(), {1, 4, 4}, PixelType::u8, 2), ElementsAre("▒▒"));
  const float floats[] = {0.5F, 2.0F};
  EXPECT_THAT(
      draw_image(reinterpret_cast<const std::uint8_t*>(floats), {1, 1, 2}, PixelType::f32, 9),
      ElementsAre("▒█"));
}

}  // namespace
}  // namespace hpcboot::data
