#include "record/safetensors.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "support/errors.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::record {
namespace {

using test::error_of;
using test::read_text;
using test::TemporaryFolder;
using test::write_text;
using testing::HasSubstr;

const float kWeight[] = {1.5F, -2.0F, 0.25F};
const float kBias[] = {0.5F};
const std::int64_t kBatches = 7;

std::vector<TensorView> small_model() {
  return {{"fc.weight", DType::f32, {1, 3}, kWeight, sizeof kWeight},
          {"bn.bias", DType::f32, {1}, kBias, sizeof kBias},
          {"bn.num_batches_tracked", DType::i64, {}, &kBatches, sizeof kBatches}};
}

/// A file with this header and as many zero bytes of data.
std::string file_of(const std::string& header, std::size_t data_bytes) {
  std::string text(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    text[i] = static_cast<char>(static_cast<unsigned char>(header.size() >> (8 * i)));
  }
  return text + header + std::string(data_bytes, '\0');
}

// The bytes that safetensors 0.8.0 from PyPI writes for this model (safetensors.numpy.save).
TEST(Safetensors, EqualsTheReferenceImplementationByteForByte) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  write_safetensors(path, small_model(), {{"format", "pt"}});
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"bn.num_batches_tracked":{"dtype":"I64","shape":[],)"
      R"("data_offsets":[0,8]},"bn.bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
      R"("fc.weight":{"dtype":"F32","shape":[1,3],"data_offsets":[12,24]}}  )";
  const std::string data("\x07\0\0\0\0\0\0\0\0\0\0\x3f\0\0\xc0\x3f\0\0\0\xc0\0\0\x80\x3e", 24);
  EXPECT_EQ(read_text(path), std::string("\xe8\0\0\0\0\0\0\0", 8) + header + data);
}

TEST(Safetensors, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  write_safetensors(path, small_model(), {{"format", "pt"}, {"run", "x"}});
  SafetensorsFile file(path);
  EXPECT_EQ(file.metadata().at("run"), "x");
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.tensors()[0].name, "bn.num_batches_tracked");
  EXPECT_TRUE(file.tensors()[0].shape.empty());
  const TensorInfo& weight = file.tensors()[2];
  EXPECT_EQ(weight.dtype, DType::f32);
  EXPECT_EQ(weight.shape, (std::vector<std::int64_t>{1, 3}));
  float values[3] = {};
  file.read(weight, values);
  EXPECT_THAT(values, testing::ElementsAreArray(kWeight));
  std::int64_t batches = 0;
  file.read(file.tensors()[0], &batches);
  EXPECT_EQ(batches, kBatches);
}

TEST(Safetensors, EveryDtypeEmptyTensorsAndNoTensorsAtAll) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  write_safetensors(path, {});
  EXPECT_TRUE(SafetensorsFile(path).tensors().empty());

  const std::vector<DType> all = {DType::boolean, DType::u8,   DType::i8,  DType::i16, DType::u16,
                                  DType::f16,     DType::bf16, DType::i32, DType::u32, DType::f32,
                                  DType::f64,     DType::i64,  DType::u64};
  const std::vector<char> data(16, 'x');
  std::vector<TensorView> tensors;
  for (const DType dtype : all) {
    const std::string name(name_of(dtype));
    tensors.push_back({name, dtype, {2}, data.data(), 2 * size_of(dtype)});
    tensors.push_back({name + ".empty", dtype, {3, 0}, nullptr, 0});
  }
  write_safetensors(path, tensors);
  SafetensorsFile file(path, DTypesTaken::any);
  EXPECT_EQ(file.tensors().size(), tensors.size());
  for (const TensorInfo& tensor : file.tensors()) {
    EXPECT_EQ(tensor.name.substr(0, tensor.name.find('.')), name_of(tensor.dtype));
  }
}

TEST(Safetensors, DataBeginAtAMultipleOfEight) {
  const TemporaryFolder folder;
  for (std::size_t length = 1; length <= 9; ++length) {
    const auto path = folder.path() / "model.safetensors";
    write_safetensors(path, {{std::string(length, 'n'), DType::u8, {1}, kBias, 1}});
    EXPECT_EQ((std::filesystem::file_size(path) - 1) % 8, 0U) << length;
  }
}

TEST(Safetensors, AModelThatDoesNotFitItsOwnDescriptionIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  const std::vector<TensorView> cases[] = {
      {{"w", DType::f32, {4}, kWeight, sizeof kWeight}},
      {{"w", DType::f32, {-3}, kWeight, sizeof kWeight}},
      {{"__metadata__", DType::f32, {3}, kWeight, sizeof kWeight}},
      {{"w", DType::f32, {3}, kWeight, sizeof kWeight}, {"w", DType::f32, {1}, kBias, 4}},
      // Together they have as many bytes as they should.
      {{"a", DType::f32, {2}, kWeight, sizeof kWeight}, {"b", DType::f32, {2}, kBias, 4}},
  };
  for (const auto& tensors : cases) {
    const auto error = error_of([&] { write_safetensors(path, tensors); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::invalid_model_use);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST(Safetensors, DamagedFilesAreRefused) {
  const std::string entry = R"("dtype":"F32","shape":[2])";
  const std::pair<std::string, const char*> cases[] = {
      {"", "0 bytes"},
      {"1234567", "7 bytes"},
      {file_of("", 0), "no header"},
      {std::string(8, '\xff') + "{}", "header claims 18446744073709551615"},
      {std::string("\x09\0\0\0\0\0\0\0{}", 10), "header claims 9"},
      {file_of("[]", 0), "no header"},
      {file_of(" {}", 0), "no header"},
      {file_of("{", 0), "damaged"},
      {file_of("{} x", 0), "damaged"},
      {file_of("{\"w\":1}", 0), "incomplete"},
      {file_of("{\"w\":{" + entry + "}}", 8), "incomplete"},
      {file_of("{\"w\":{" + entry + ",\"data_offsets\":[0,8]}}", 7), "7 bytes of data"},
      {file_of("{\"w\":{" + entry + ",\"data_offsets\":[0,8]}}", 9), "9 bytes of data"},
      {file_of("{\"w\":{" + entry + ",\"data_offsets\":[0,4]}}", 4), "data_offsets 0 to 4"},
      {file_of("{\"w\":{" + entry + ",\"data_offsets\":[8,0]}}", 8), "data_offsets 8 to 0"},
      {file_of("{\"w\":{" + entry + ",\"data_offsets\":[0]}}", 8), "invalid data_offsets"},
      {file_of("{\"w\":{" + entry + ",\"data_offsets\":[-8,0]}}", 8), "invalid data_offsets"},
      {file_of("{\"w\":{" + entry + ",\"data_offsets\":[4,12]}}", 12), "begins at 4"},
      {file_of("{\"a\":{" + entry + ",\"data_offsets\":[0,8]},\"b\":{" + entry +
                   ",\"data_offsets\":[4,12]}}",
               12),
       "begins at 4"},
      {file_of("{\"w\":{" + entry + ",\"data_offsets\":[0,8]},\"w\":{" + entry +
                   ",\"data_offsets\":[0,8]}}",
               8),
       "key 'w' twice"},
      {file_of(R"({"w":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})", 8), "dtype 'F31'"},
      {file_of(R"({"w":{"dtype":"U16","shape":[2],"data_offsets":[0,4]}})", 4), "dtype 'U16'"},
      {file_of(R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8), "invalid shape"},
      {file_of(R"({"w":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8), "invalid shape"},
      {file_of(R"({"w":{"dtype":"F32","shape":[9223372036854775813],"data_offsets":[0,8]}})", 8),
       "invalid shape"},
      {file_of(R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0),
       "data_offsets 0 to 0"},
      {file_of(R"({"__metadata__":{"a":1}})", 0), "invalid __metadata__"},
  };
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  for (const auto& [text, found] : cases) {
    write_text(path, text);
    const auto error = error_of([&] { SafetensorsFile file(path); });
    ASSERT_TRUE(error) << found;
    EXPECT_EQ(error->code(), ErrorCode::malformed_file) << found;
    EXPECT_THAT(error->found(), HasSubstr(path.string()));
    EXPECT_THAT(error->found(), HasSubstr(found));
  }
}

TEST(Safetensors, AnUnknownTypeIsListedIfAnyIsAccepted) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  write_text(path, file_of(R"({"a":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[0,3]},)"
                           R"("b":{"dtype":"U16","shape":[2],"data_offsets":[3,7]}})",
                           7));
  const SafetensorsFile file(path, DTypesTaken::any);
  ASSERT_EQ(file.tensors().size(), 2U);
  EXPECT_EQ(file.tensors()[0].other_dtype, "F8_E4M3");
  EXPECT_EQ(file.tensors()[0].shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(file.tensors()[1].other_dtype, "");
  EXPECT_EQ(file.tensors()[1].dtype, DType::u16);
  // Its size is unknown, but that of the data is known.
  write_text(path, file_of(R"({"a":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[0,3]}})", 4));
  EXPECT_TRUE(error_of([&] { SafetensorsFile(path, DTypesTaken::any); }));
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  write_safetensors(path, small_model());
  const std::string whole = read_text(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_text(path, whole.substr(0, size));
    const auto error = error_of([&] { SafetensorsFile file(path); });
    ASSERT_TRUE(error) << size;
    EXPECT_EQ(error->code(), ErrorCode::malformed_file) << size;
  }
}

TEST(Safetensors, AMissingFileIsNamed) {
  const auto error = error_of([] { SafetensorsFile file("/nowhere/model.safetensors"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unreadable_file);
  EXPECT_THAT(error->found(), HasSubstr("/nowhere/model.safetensors"));
}

}  // namespace
}  // namespace hpcboot::record
