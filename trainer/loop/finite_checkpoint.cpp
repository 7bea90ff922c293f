#include "loop/finite_checkpoint.hpp"

#include <torch/types.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "loop/checkpoint_folder.hpp"
#include "record/safetensors.hpp"
#include "torch/tensor_types.hpp"

namespace hpcboot::train {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& checkpoint) {
  std::error_code absent;
  if (!fs::is_directory(checkpoint, absent)) return {checkpoint};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(checkpoint, absent)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  return files;
}

/// @throws Error{unreadable_file, malformed_file}
bool has_finite_numbers(const fs::path& file) {
  const record::SafetensorsFile source(file);
  return std::all_of(source.tensors().begin(), source.tensors().end(), [&](const auto& info) {
    const torch::Tensor tensor = torch::empty(info.shape, type_of(info.dtype));
    if (tensor.numel() == 0) return true;
    source.read(info, tensor.data_ptr());
    return torch::isfinite(tensor).all().template item<bool>();
  });
}

bool is_finite(const fs::path& checkpoint) {
  try {
    const std::vector<fs::path> files = files_of(checkpoint);
    return std::all_of(files.begin(), files.end(), has_finite_numbers);
  } catch (const Error&) {  // it cannot be used
    return false;
  }
}

}  // namespace

Error with_finite_checkpoint(const Error& diverged, const fs::path& folder) {
  std::vector<fs::path> checkpoints = checkpoints_in(folder);
  checkpoints.push_back(checkpoint_path(folder, kBestCheckpoint));
  const auto last = std::find_if(checkpoints.begin(), checkpoints.end(), is_finite);
  if (last == checkpoints.end()) return diverged;
  return Error(diverged.code(), diverged.found(), diverged.expected(),
               diverged.remedy() +
                   "; start a new run for this, as --resume refuses changed options; the last "
                   "checkpoint with finite numbers is " +
                   last->string() + ", whose model `trainer convert` extracts");
}

}  // namespace hpcboot::train
