#include "datasets/data_folder.hpp"

#include <unistd.h>

#include <system_error>
#include <utility>

#include "datasets/cifar_folder.hpp"
#include "datasets/idx.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::data {
namespace {

namespace fs = std::filesystem;

/// A folder for incomplete files, removed with whatever is left in it.
class StagingFolder {
 public:
  explicit StagingFolder(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }
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

/// Moves all files of `from` into `folder`, or none.
/// @param replace files of the same names, such as lists of classes; otherwise they are an error
void move_files(const fs::path& from, const fs::path& folder, bool replace) {
  for (const auto& entry : fs::directory_iterator(from)) {
    const fs::path target = folder / entry.path().filename();
    if (!replace && fs::exists(fs::symlink_status(target))) fail_existing(target);
  }
  std::vector<fs::path> moved;
  try {
    for (const auto& entry : fs::directory_iterator(from)) {
      const fs::path target = folder / entry.path().filename();
      fs::rename(entry.path(), target);
      moved.push_back(target);
    }
  } catch (...) {
    std::error_code ignored;
    for (const auto& file : moved) fs::remove(file, ignored);
    throw;
  }
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
    const std::string name = ".data.tmp." + std::to_string(::getpid());
    if (fs::exists(folder)) {
      const StagingFolder staging(folder / name);
      write_files(staging.path());
      if (!replace) refuse_existing(folder);
      move_files(staging.path(), folder, replace);
    } else {
      const fs::path target = fs::weakly_canonical(folder / "").parent_path();
      const StagingFolder staging(target.parent_path() / name);
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
