#include "loop/checkpoint_file.hpp"

#include <fmt/format.h>
#include <torch/types.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "hpcboot/error.hpp"
#include "record/safetensors.hpp"

namespace hpcboot::train {
namespace {

using record::DType;

constexpr const char* kFormatKey = "hpcboot_checkpoint";
constexpr const char* kFormat = "1";
constexpr const char* kStateKey = "state";
constexpr const char* kChecksumKey = "crc32";

constexpr std::pair<DType, at::ScalarType> kTypes[] = {
    {DType::boolean, at::kBool}, {DType::u8, at::kByte},   {DType::i8, at::kChar},
    {DType::i16, at::kShort},    {DType::f16, at::kHalf},  {DType::bf16, at::kBFloat16},
    {DType::i32, at::kInt},      {DType::f32, at::kFloat}, {DType::f64, at::kDouble},
    {DType::i64, at::kLong}};

DType dtype_of(const torch::Tensor& tensor) {
  for (const auto& [dtype, type] : kTypes) {
    if (type == tensor.scalar_type()) return dtype;
  }
  throw Error(ErrorCode::invalid_model_use,
              std::string("a tensor of type ") + c10::toString(tensor.scalar_type()),
              "real numbers, integers or Booleans", "convert the model");
}

at::ScalarType type_of(DType dtype) {
  return std::find_if(std::begin(kTypes), std::end(kTypes),
                      [&](const auto& pair) { return pair.first == dtype; })
      ->second;
}

Error malformed(const std::filesystem::path& file, const std::string& what,
                std::string_view expected) {
  return Error(ErrorCode::malformed_file, fmt::format("'{}' {}", file.string(), what),
               std::string(expected), "resume from another checkpoint, or start a new run");
}

std::uint32_t checksum(std::uint32_t sum, const torch::Tensor& tensor) {
  return static_cast<std::uint32_t>(
      ::crc32_z(sum, static_cast<const Bytef*>(tensor.data_ptr()), tensor.nbytes()));
}

std::uint32_t checksum(std::uint32_t sum, const std::string& text) {
  return static_cast<std::uint32_t>(
      ::crc32_z(sum, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

/// Of the state and of the tensors in order of their names, including the names.
std::string checksum(const std::string& state, const std::vector<NamedTensor>& tensors) {
  std::vector<const NamedTensor*> sorted;
  for (const NamedTensor& one : tensors) sorted.push_back(&one);
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  std::uint32_t sum = checksum(0, state);
  for (const NamedTensor* one : sorted) sum = checksum(checksum(sum, one->name), one->tensor);
  return fmt::format("{:08x}", sum);
}

}  // namespace

void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& file) {
  std::vector<record::TensorView> views;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    views.push_back({name, dtype_of(tensor), tensor.sizes().vec(), tensor.data_ptr(),
                     static_cast<std::size_t>(tensor.nbytes())});
  }
  const std::string state = json_text(to_json(checkpoint.state)).str();
  record::write_safetensors(file, std::move(views),
                            {{"format", "pt"},
                             {kFormatKey, kFormat},
                             {kStateKey, state},
                             {kChecksumKey, checksum(state, checkpoint.tensors)}});
}

Checkpoint read_checkpoint(const std::filesystem::path& file) {
  const record::SafetensorsFile source(file);
  const auto text = [&](const char* key) {
    const auto found = source.metadata().find(key);
    if (found == source.metadata().end()) {
      throw malformed(file, "is not a checkpoint", "a checkpoint");
    }
    return found->second;
  };
  if (text(kFormatKey) != kFormat) {
    throw malformed(file, "is a checkpoint of format " + text(kFormatKey), "format 1");
  }
  Checkpoint checkpoint;
  for (const record::TensorInfo& info : source.tensors()) {
    torch::Tensor tensor = torch::empty(info.shape, type_of(info.dtype));
    if (tensor.numel() > 0) source.read(info, tensor.data_ptr());
    checkpoint.tensors.push_back({info.name, std::move(tensor)});
  }
  const std::string state = text(kStateKey);
  if (checksum(state, checkpoint.tensors) != text(kChecksumKey)) {
    throw malformed(file, "is damaged: its checksum does not match", "the bytes that were written");
  }
  try {
    checkpoint.state = training_state_from_json(parse_json(state), file.string());
  } catch (const JsonError& problem) {
    throw malformed(file, std::string("has a state that ") + problem.what(), "JSON");
  }
  return checkpoint;
}

}  // namespace hpcboot::train
