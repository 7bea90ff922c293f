#include "datasets/data_folder.hpp"

#include <unistd.h>

#include <system_error>
#include <utility>

#include "datasets/cifar_folder.hpp"
#include "datasets/idx.hpp"
#include "hpcboot/error.hpp"
#include "record/atomic_file.hpp"
#include "record/atomic_folder.hpp"
#include "record/disk_sync.hpp"

namespace hpcboot::data {
namespace {

namespace fs = std::filesystem;

/// A folder for incomplete files, removed with whatever is left in it.
class StagingFolder {
 public:
  explicit StagingFolder(fs::path path) : path_(std::move(path)) { fs::create_directory(path_); }
  ~StagingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

[[noreturn]] void fail_existing(const fs::path& file) {
  throw Error(ErrorCode::unwritable_output, "'" + file.string() + "' already exists",
              "a folder without data files, which are never overwritten",
              "use the existing data, choose another folder, or remove the files first");
}

void refuse_existing(const fs::path& folder) {
  const auto files = data_files_in(folder);
  if (!files.empty()) fail_existing(folder / files.front());
}

[[noreturn]] void fail_folder(const fs::path& path) {
  throw Error(ErrorCode::unwritable_output, "'" + path.string() + "' is a folder",
              "a file of this name, or none", "choose another folder, or move this one away");
}

std::vector<fs::path> names_in(const fs::path& folder) {
  std::vector<fs::path> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

/// Moves all files of the staging folder `from` into `folder`, or none.
/// @param replace files of the same names; otherwise they are an error
void move_files(const fs::path& from, const fs::path& folder, bool replace) {
  const std::vector<fs::path> names = names_in(from);
  std::vector<fs::path> replaced;
  for (const fs::path& name : names) {
    const fs::file_status target = fs::symlink_status(folder / name);
    if (!fs::exists(target)) continue;
    if (!replace) fail_existing(folder / name);
    if (fs::is_directory(target)) fail_folder(folder / name);
    replaced.push_back(name);
  }
  // The old files go first: a process that is killed leaves a folder that lacks files, never new
  // images with old labels. They are outside of `from`, which is removed whatever happens.
  const fs::path old = folder / (".data.old." + std::to_string(::getpid()));
  if (!replaced.empty()) fs::create_directory(old);
  std::size_t moved_away = 0;
  std::size_t moved_in = 0;
  std::error_code ignored;
  try {
    for (; moved_away < replaced.size(); ++moved_away)
      fs::rename(folder / replaced[moved_away], old / replaced[moved_away]);
    for (; moved_in < names.size(); ++moved_in)
      fs::rename(from / names[moved_in], folder / names[moved_in]);
  } catch (...) {
    while (moved_in > 0) fs::remove(folder / names[--moved_in], ignored);
    while (moved_away-- > 0)
      fs::rename(old / replaced[moved_away], folder / replaced[moved_away], ignored);
    fs::remove(old, ignored);  // not if a file could not be moved back
    throw;
  }
  fs::remove_all(old, ignored);
}

}  // namespace

std::vector<std::string> data_files_in(const fs::path& folder) {
  std::vector<std::string> names = mnist_files_in(folder);
  const std::vector<std::string> cifar = cifar_files_in(folder);
  names.insert(names.end(), cifar.begin(), cifar.end());
  return names;
}

void fill_data_folder(const fs::path& folder, bool replace,
                      const std::function<void(const fs::path&)>& write_files) {
  try {
    if (!replace) refuse_existing(folder);
    // An existing folder may be a mount point, so its files are staged inside it; a new one is
    // staged beside its place and appears with all its files at once.
    if (fs::exists(folder)) {
      const fs::path place = folder / "data";
      const record::WriterLock alone(place);
      const StagingFolder staging(record::unfinished_name(place));
      write_files(staging.path());
      if (!replace) refuse_existing(folder);
      move_files(staging.path(), folder, replace);
    } else {
      const fs::path target = fs::weakly_canonical(folder / "").parent_path();
      record::make_folders(target.parent_path());
      const record::WriterLock alone(target);
      const StagingFolder staging(record::unfinished_name(target));
      write_files(staging.path());
      fs::rename(staging.path(), target);
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::unwritable_output,
                "'" + error.path1().string() + "': " + error.code().message(),
                "a folder that can be created and written", "choose another folder");
  }
}

}  // namespace hpcboot::data
