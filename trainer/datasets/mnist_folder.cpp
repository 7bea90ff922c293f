#include "datasets/mnist_folder.hpp"

#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "datasets/idx.hpp"
#include "datasets/image_blocks.hpp"
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

void refuse_existing(const fs::path& folder) {
  const auto files = mnist_files_in(folder);
  if (files.empty()) return;
  throw Error(ErrorCode::unwritable_output,
              "'" + (folder / files.front()).string() + "' already exists",
              "a folder without data files, which are never overwritten",
              "use the existing data, choose another folder, or remove the files first");
}

/// Moves all files of `from` into `folder`, or none.
void move_files(const fs::path& from, const fs::path& folder) {
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

void write_split(const fs::path& folder, Split split, const Dataset& set,
                 const std::function<void(std::int64_t)>& progress) {
  if (set.pixel_type() != PixelType::u8 || set.shape().channels != 1) {
    throw Error(ErrorCode::invalid_model_use,
                std::string("images of ") + to_string(set.shape()) +
                    (set.pixel_type() == PixelType::u8 ? " bytes" : " floats"),
                "8-bit greyscale images, the only kind that MNIST's files can hold",
                "write HDF5, safetensors or .pt instead");
  }
  if (set.classes() > kClasses) {
    throw Error(ErrorCode::invalid_model_use, std::to_string(set.classes()) + " classes",
                "at most " + std::to_string(kClasses) + ", as MNIST's files have",
                "write HDF5, safetensors or .pt instead");
  }
  WholeSet whole = read_whole(set, progress);
  ImageSet images;
  images.count = set.count();
  images.rows = set.shape().rows;
  images.cols = set.shape().cols;
  images.pixels = std::move(whole.pixels);
  images.labels.assign(whole.labels.begin(), whole.labels.end());
  write_idx_images(folder / images_file_name(split), images);
  write_idx_labels(folder / labels_file_name(split), images);
}

}  // namespace

void fill_mnist_folder(const fs::path& folder, bool replace,
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
      move_files(staging.path(), folder);
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

void write_mnist(const fs::path& folder, const Dataset& train, const Dataset& test,
                 const std::function<void(std::int64_t)>& progress) {
  fill_mnist_folder(folder, true, [&](const fs::path& place) {
    write_split(place, Split::train, train, progress);
    write_split(place, Split::test, test, progress);
  });
}

}  // namespace hpcboot::data
