#include "datasets/idx.hpp"

#include "data_file.hpp"
#include "fuzz.hpp"

// MNIST's files, plain or compressed: the first byte of the input selects which, the second how
// much of the rest is the file of images. A consistent data set, or an Error.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  if (size < 2) return 0;
  static const fuzz::DataFolder kFolder;
  const std::string_view text = fuzz::text_of(data + 2, size - 2);
  const std::size_t images = text.size() * data[1] / 255;
  const std::string suffix = (data[0] & 1) != 0 ? ".gz" : "";
  kFolder.write(data::images_file_name(data::Split::train) + suffix, text.substr(0, images));
  kFolder.write(data::labels_file_name(data::Split::train) + suffix, text.substr(images));
  kFolder.remove(data::images_file_name(data::Split::train) + (suffix.empty() ? ".gz" : ""));
  kFolder.remove(data::labels_file_name(data::Split::train) + (suffix.empty() ? ".gz" : ""));
  fuzz::allow_error([&] {
    const data::ImageSet set = data::read_mnist(kFolder.path(), data::Split::train);
    const auto count = static_cast<std::size_t>(set.count);
    fuzz::require(count > 0 && set.labels.size() == count, "a label for each image");
    fuzz::require(set.pixels.size() == count * static_cast<std::size_t>(set.rows * set.cols),
                  "pixels for each image");
    for (const std::uint8_t label : set.labels) fuzz::require(label < 10, "labels below 10");
  });
  return 0;
}
