#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hpcboot::data {

/// Which half of a data set: the 60,000 images to learn from, or the 10,000 to validate with.
enum class Split { train, test };

/// Grey images of one size with a label each, as they come from a file: not yet scaled.
struct ImageSet {
  std::int64_t count = 0;
  std::int64_t rows = 0;             ///< height in pixels
  std::int64_t cols = 0;             ///< width in pixels
  std::vector<std::uint8_t> pixels;  ///< count x rows x cols, row by row; 0 is the background
  std::vector<std::uint8_t> labels;  ///< count values from 0 to 9
  std::string source;                ///< where they are from: a folder, or the generator
};

/// The name of a file of an MNIST data set, without .gz: "train-images-idx3-ubyte".
std::string images_file_name(Split split);
std::string labels_file_name(Split split);

/// The names under which the folder holds a file of an MNIST data set, compressed or not.
std::vector<std::string> mnist_files_in(const std::filesystem::path& folder);

/// Reads a half of an MNIST data set; of a file that is there plain and as .gz, the plain one.
/// `limit` keeps the first images only, 0 all of them; the files are checked whole either way.
/// The format is that of http://yann.lecun.com/exdb/mnist/: big-endian, a magic number 00 00 08 nd
/// (08: unsigned byte, nd: dimensions), nd sizes of 32 bits, the bytes.
/// Throws Error{missing_data} where the folder or a file is not there, {unreadable_file} where it
/// cannot be opened, and {malformed_data}, with file and byte offset, where it is not of the
/// format, too short or too long, where images and labels differ in number, or a label is above 9.
ImageSet read_mnist(const std::filesystem::path& folder, Split split, std::int64_t limit = 0);

/// Write the images or the labels of a set. The file appears under its name only when it is
/// complete. Throws Error{unwritable_output}.
void write_idx_images(const std::filesystem::path& file, const ImageSet& set);
void write_idx_labels(const std::filesystem::path& file, const ImageSet& set);

}  // namespace hpcboot::data
