#include "app/convert_model.hpp"

#include <algorithm>
#include <system_error>

#include "core/counted.hpp"
#include "datasets/formats.hpp"
#include "hpcboot/error.hpp"
#include "loop/checkpoint_file.hpp"
#include "loop/training_tensors.hpp"
#include "record/atomic_folder.hpp"
#include "record/disk_sync.hpp"
#include "record/sharded_safetensors.hpp"

namespace hpcboot::app {
namespace {

namespace fs = std::filesystem;

bool is_checkpoint_file(const fs::path& place) {
  std::error_code ignored;
  if (!fs::is_regular_file(place, ignored)) return false;
  try {
    return train::is_checkpoint(record::SafetensorsFile(place).metadata());
  } catch (const Error&) {  // no safetensors file, which may be a data set
    return false;
  }
}

record::StoredTensors tensors_of(const fs::path& source) {
  if (const auto folder = record::folder_of_model(source)) {
    return record::tensors_of_index(*folder, record::kModelStem);
  }
  if (!is_checkpoint_file(source)) return record::tensors_of_file(source);
  auto tensors = record::tensors_of_file(source, std::string(train::kModelPrefix));
  tensors.metadata = {{"format", "pt"}};  // the others are about the checkpoint
  return tensors;
}

bool is_name_of_file(const std::string& target) {
  const auto& all = data::formats();
  return std::any_of(all.begin(), all.end(), [&](const data::Format& one) {
    return one.has_content != nullptr && one.has_name(target);
  });
}

void require_fitting_name(const ConvertRequest& o) {
  if (o.shards > 0 && is_name_of_file(o.target)) {
    throw Error(ErrorCode::unwritable_output, "'" + o.target + "' is the name of a file",
                "a folder for the files that --shards writes",
                "choose a name without such an ending, or omit --shards");
  }
  if (o.shards == 0 && fs::path(o.target).extension() != ".safetensors") {
    throw Error(ErrorCode::unwritable_output,
                "'" + o.target + "' does not name a format in which models are written",
                "a name ending in .safetensors",
                "choose such a name, or write several files to a folder with --shards N");
  }
}

void require_fitting_options(const ConvertRequest& o) {
  if (o.chunk == 0 && o.compress == 0) return;
  throw Error(ErrorCode::invalid_model_use, "chunks or compression for a model",
              "a data set for HDF5, the only format that has them", "omit --chunk and --compress");
}

void require_free(const ConvertRequest& o) {
  std::error_code ignored;
  if (fs::equivalent(record::folder_of_model(o.source).value_or(o.source), o.target, ignored)) {
    throw Error(ErrorCode::unwritable_output, "'" + o.target + "' is also the source",
                "a target other than the source", "name a new file or folder");
  }
  if (!fs::exists(fs::symlink_status(o.target, ignored))) return;
  if (!o.replace) {
    throw Error(ErrorCode::unwritable_output, "'" + o.target + "' already exists",
                "a place without data, as nothing is overwritten by default",
                "choose another place, or replace it with --force");
  }
  if (o.shards > 0 && fs::exists(o.target, ignored) && !record::folder_of_model(o.target)) {
    throw Error(ErrorCode::unwritable_output, "'" + o.target + "' is not a model of several files",
                "one that is, as nothing else is removed", "choose another place");
  }
}

/// @return the folder
fs::path split(const record::StoredTensors& tensors, const fs::path& target, int shards) {
  const fs::path folder = target.has_filename() ? target : target.parent_path();
  record::make_folders(folder.parent_path());
  const record::WriterLock alone(folder);
  const fs::path written = record::begin_folder(folder);
  try {
    record::split_safetensors(tensors, written, record::kModelStem, shards);
    record::complete_folder(written, folder);
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove_all(written, ignored);
    throw;
  }
  return folder;
}

}  // namespace

bool is_of_model(const ConvertRequest& request) {
  return request.shards > 0 || record::folder_of_model(request.source) ||
         is_checkpoint_file(request.source);
}

std::string convert_model(const ConvertRequest& request) {
  require_fitting_name(request);
  require_fitting_options(request);
  require_free(request);
  const record::StoredTensors tensors = tensors_of(request.source);
  const std::string text =
      counted(static_cast<std::int64_t>(tensors.headers.size()), "tensor") + " in ";
  if (request.shards == 0) {
    record::merge_safetensors(tensors, request.target);
    return text + request.target;
  }
  const fs::path folder = split(tensors, request.target, request.shards);
  return text + counted(request.shards, "file") + " in " + folder.string();
}

}  // namespace hpcboot::app
