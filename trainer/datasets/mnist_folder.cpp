#include "datasets/mnist_folder.hpp"

#include <string>
#include <utility>

#include "datasets/data_folder.hpp"
#include "datasets/idx.hpp"
#include "datasets/image_blocks.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::data {
namespace {

namespace fs = std::filesystem;

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

void write_mnist(const fs::path& folder, const Dataset& train, const Dataset& test,
                 const std::function<void(std::int64_t)>& progress) {
  fill_data_folder(folder, true, [&](const fs::path& place) {
    write_split(place, Split::train, train, progress);
    write_split(place, Split::test, test, progress);
  });
}

}  // namespace hpcboot::data
