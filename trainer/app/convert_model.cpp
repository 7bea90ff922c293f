#include "app/convert_model.hpp"

#include <system_error>

#include "core/counted.hpp"
#include "hpcboot/error.hpp"
#include "record/atomic_folder.hpp"
#include "record/disk_sync.hpp"
#include "record/sharded_safetensors.hpp"

namespace hpcboot::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStem = "model";

bool is_index(const fs::path& place) {
  return place.filename() == record::index_file_name(kStem);
}

void refuse_existing(const fs::path& target, bool replace) {
  std::error_code ignored;
  if (replace || !fs::exists(fs::symlink_status(target, ignored))) return;
  throw Error(ErrorCode::unwritable_output, "'" + target.string() + "' already exists",
              "a place without data, as nothing is overwritten by default",
              "choose another place, or replace it with --force");
}

}  // namespace

bool is_sharded_model(const fs::path& place) {
  std::error_code ignored;
  return is_index(place) || fs::exists(place / record::index_file_name(kStem), ignored);
}

std::string merge_model(const fs::path& source, const fs::path& target, bool replace) {
  refuse_existing(target, replace);
  record::merge_safetensors(is_index(source) ? source.parent_path() : source, kStem, target);
  const record::SafetensorsFile written(target);
  return counted(static_cast<std::int64_t>(written.tensors().size()), "tensor") + " in " +
         target.string();
}

std::string split_model(const fs::path& source, const fs::path& target, int shards, bool replace) {
  refuse_existing(target, replace);
  std::error_code ignored;
  if (fs::exists(target, ignored) && !is_sharded_model(target)) {
    throw Error(ErrorCode::unwritable_output,
                "'" + target.string() + "' is not a model of several files",
                "one that is, as nothing else is removed", "choose another place");
  }
  const fs::path folder = target.has_filename() ? target : target.parent_path();
  const record::SafetensorsFile model(source);
  record::make_folders(folder.parent_path());
  const record::WriterLock alone(folder);
  const fs::path written = record::begin_folder(folder);
  try {
    record::split_safetensors(source, written, kStem, shards);
    record::complete_folder(written, folder);
  } catch (const Error&) {
    fs::remove_all(written, ignored);
    throw;
  }
  return counted(static_cast<std::int64_t>(model.tensors().size()), "tensor") + " in " +
         counted(shards, "file") + " in " + folder.string();
}

}  // namespace hpcboot::app
