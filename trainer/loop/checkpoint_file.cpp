#include "loop/checkpoint_file.hpp"

#include <fmt/format.h>
#include <torch/types.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "hpcboot/error.hpp"
#include "record/safetensors.hpp"
#include "torch/tensor_types.hpp"

namespace hpcboot::train {
namespace {

constexpr const char* kFormatKey = "hpcboot_checkpoint";
constexpr const char* kFormat = "1";
constexpr const char* kStateKey = "state";
constexpr const char* kChecksumKey = "crc32";

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

bool is_checkpoint(const std::map<std::string, std::string>& metadata) {
  return metadata.count(kFormatKey) != 0;
}

std::map<std::string, std::string> notes_of(const TrainingState& state) {
  const std::string text = json_text(to_json(state)).str();
  return {{kFormatKey, kFormat}, {kStateKey, text}, {kChecksumKey, checksum(text, {})}};
}

namespace {

/// The texts of a checkpoint's metadata.
class Notes {
 public:
  Notes(const std::filesystem::path& file, const std::map<std::string, std::string>& texts)
      : file_(file), texts_(texts) {
    if (text(kFormatKey) != kFormat) {
      throw malformed(file, "is a checkpoint of format " + text(kFormatKey), "format 1");
    }
  }

  void require_checksum(const std::vector<NamedTensor>& tensors) const {
    if (checksum(text(kStateKey), tensors) != text(kChecksumKey)) {
      throw malformed(file_, "is damaged: its checksum does not match",
                      "the bytes that were written");
    }
  }

  TrainingState state() const {
    constexpr JsonLimits kLimits{std::size_t{1} << 20U, 16, 10'000};
    try {
      return training_state_from_json(parse_json(text(kStateKey), kLimits), file_.string());
    } catch (const JsonError& problem) {
      throw malformed(file_, std::string("has a state that ") + problem.what(), "JSON");
    }
  }

 private:
  const std::string& text(const char* key) const {
    const auto found = texts_.find(key);
    if (found == texts_.end()) throw malformed(file_, "is not a checkpoint", "a checkpoint");
    return found->second;
  }

  const std::filesystem::path& file_;
  const std::map<std::string, std::string>& texts_;
};

}  // namespace

TrainingState read_state(const std::filesystem::path& file) {
  const record::SafetensorsFile source(file);
  return Notes(file, source.metadata()).state();
}

Checkpoint read_checkpoint(const std::filesystem::path& file, const Examine& examine) {
  Checkpoint checkpoint;
  std::error_code absent;
  if (std::filesystem::is_directory(file, absent)) {
    const auto texts = verify_sharded(file);
    const Notes notes(file, texts);
    notes.require_checksum({});
    checkpoint.state = notes.state();
    if (examine) examine(checkpoint.state, {});
    checkpoint.folder = file;
    return checkpoint;
  }
  const record::SafetensorsFile source(file);
  const Notes notes(file, source.metadata());
  checkpoint.state = notes.state();
  if (examine) examine(checkpoint.state, source.tensors());
  for (const record::TensorInfo& info : source.tensors()) {
    torch::Tensor tensor = torch::empty(info.shape, type_of(info.dtype));
    if (tensor.numel() > 0) source.read(info, tensor.data_ptr());
    checkpoint.tensors.push_back({info.name, std::move(tensor)});
  }
  notes.require_checksum(checkpoint.tensors);
  return checkpoint;
}

}  // namespace hpcboot::train
