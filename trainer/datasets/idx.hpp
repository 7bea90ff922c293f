#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hpcboot::data {

/// The split of a data set: in MNIST 60,000 training images, and 10,000 test images for validation.
enum class Split { train, test };

/// Grey images of one size, each with a label, as stored in a file: not yet scaled.
struct ImageSet {
  std::int64_t count = 0;
  std::int64_t rows = 0;             ///< height in pixels
  std::int64_t cols = 0;             ///< width in pixels
  std::vector<std::uint8_t> pixels;  ///< count x rows x cols, row by row; 0 is the background
  std::vector<std::uint8_t> labels;  ///< count values from 0 to 9
  std::string source;                ///< where they come from: a folder, or the generator
};

/// The name of a file of an MNIST data set, without .gz: "train-images-idx3-ubyte".
std::string images_file_name(Split split);
std::string labels_file_name(Split split);

/// The names of the MNIST files that the folder contains, compressed or not.
std::vector<std::string> mnist_files_in(const std::filesystem::path& folder);

/// Reads one split of an MNIST data set; if a file exists plain and as .gz, the plain one. `limit`
/// keeps only the first images, 0 all of them; the files are checked completely either way.
/// The format is that of http://yann.lecun.com/exdb/mnist/: big-endian, a magic number 00 00 08 nd
/// (08: unsigned byte, nd: dimensions), nd sizes of 32 bits, the bytes.
/// Throws Error{missing_data} if the folder or a file is missing, {unreadable_file} if it cannot be
/// opened, and {malformed_data}, with file and byte offset, if it has another format, is too short
/// or too long, if images and labels differ in number, or if a label is above 9.
ImageSet read_mnist(const std::filesystem::path& folder, Split split, std::int64_t limit = 0);

/// Writes the images or the labels of a set. The file appears under its name only when it is
/// complete. Throws Error{unwritable_output}.
void write_idx_images(const std::filesystem::path& file, const ImageSet& set);
void write_idx_labels(const std::filesystem::path& file, const ImageSet& set);

}  // namespace hpcboot::data
