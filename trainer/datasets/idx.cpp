#include "datasets/idx.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "datasets/data_file.hpp"
#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::data {
namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr std::uint32_t kMaxSide = 4096;
constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 30;
constexpr std::size_t kChunk = std::size_t{8} << 20;
constexpr int kLabels = 10;

std::string hex(std::uint8_t byte) {
  constexpr const char* kDigits = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

/// Reads the magic number and the sizes of an IDX file with `dimensions` dimensions.
std::vector<std::uint32_t> read_header(DataFile& file, std::size_t dimensions) {
  std::array<std::uint8_t, 16> bytes{};
  const std::size_t size = 4 * (1 + dimensions);
  const std::size_t got = file.read(bytes.data(), size);
  const std::array<std::uint8_t, 4> magic = {0, 0, kUnsignedByte,
                                             static_cast<std::uint8_t>(dimensions)};
  const std::array<const char*, 4> meaning = {
      "0x00 (start of an IDX magic number)", "0x00 (start of an IDX magic number)",
      "0x08 (element type unsigned byte)",
      dimensions == 3 ? "0x03 (dimensions of an image file)" : "0x01 (dimensions of a label file)"};
  for (std::size_t i = 0; i < std::min(got, magic.size()); ++i) {
    if (bytes[i] != magic[i]) file.fail(i, "byte " + hex(bytes[i]), meaning[i]);
  }
  if (got < size) {
    file.fail(got, "the end of the file", "a header of " + std::to_string(size) + " bytes");
  }
  std::vector<std::uint32_t> sizes;
  for (std::size_t at = 4; at < size; at += 4) {
    sizes.push_back(std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
                    std::uint32_t{bytes[at + 2]} << 8 | std::uint32_t{bytes[at + 3]});
  }
  return sizes;
}

/// Checks, before anything is allocated, that the file can hold what its header declares.
void check_promise(const DataFile& file, std::uint64_t header, std::uint64_t payload) {
  const std::string promised =
      std::to_string(header + payload) + " bytes (the header and the data that it declares)";
  if (payload > kMaxBytes) {
    file.fail(4, "a header that declares " + std::to_string(payload) + " bytes",
              "at most " + std::to_string(kMaxBytes));
  }
  if (header + payload > file.max_size()) {
    if (file.is_compressed()) {
      file.fail(4, "a header that declares " + std::to_string(payload) + " bytes",
                "no more than the " + std::to_string(file.max_size()) +
                    " bytes that a .gz of this size can hold");
    }
    file.fail(file.max_size(), "the end of the file", promised);
  }
  if (!file.is_compressed() && header + payload < file.max_size()) {
    file.fail(header + payload, "bytes after the data", promised);
  }
}

/// Reads `payload` bytes, which must be the rest of the file, and returns the first `keep`.
std::vector<std::uint8_t> read_payload(DataFile& file, std::uint64_t payload, std::uint64_t keep) {
  const std::uint64_t header = file.offset();
  const std::uint64_t end = header + payload;
  check_promise(file, header, payload);
  std::vector<std::uint8_t> kept;
  std::vector<std::uint8_t> skipped;
  while (file.offset() < end) {
    // In steps, so that memory grows with the data that exists, not with what a header declares.
    const std::uint64_t done = file.offset() - header;
    std::uint8_t* target = nullptr;
    std::size_t step = 0;
    if (done < keep) {
      const std::uint64_t grown = std::max<std::uint64_t>(kChunk, 2 * kept.size());
      kept.resize(static_cast<std::size_t>(file.is_compressed() ? std::min(keep, grown) : keep));
      target = kept.data() + done;
      step = kept.size() - static_cast<std::size_t>(done);
    } else {
      skipped.resize(kChunk);
      target = skipped.data();
      step = static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, payload - done));
    }
    if (file.read(target, step) < step) {
      file.fail(file.offset(), "the end of the file",
                std::to_string(end) + " bytes (the header and the data that it declares)");
    }
  }
  std::uint8_t extra = 0;
  if (file.read(&extra, 1) != 0) {
    file.fail(end, "bytes after the data", "the end of the file");
  }
  return kept;
}

struct Images {
  std::uint32_t count;
  std::uint32_t rows;
  std::uint32_t cols;
  std::vector<std::uint8_t> pixels;
};

Images read_images(const std::filesystem::path& path, std::int64_t limit) {
  DataFile file(path);
  const auto sizes = read_header(file, 3);
  Images images{sizes[0], sizes[1], sizes[2], {}};
  if (images.count == 0) file.fail(4, "0 images", "at least one");
  for (std::size_t i = 1; i < 3; ++i) {
    if (sizes[i] == 0 || sizes[i] > kMaxSide) {
      file.fail(4 + 4 * i, std::to_string(sizes[i]) + (i == 1 ? " rows" : " columns"),
                "1 to " + std::to_string(kMaxSide));
    }
  }
  const std::uint64_t image = std::uint64_t{images.rows} * images.cols;
  const std::uint64_t kept =
      limit == 0 ? images.count
                 : std::min<std::uint64_t>(images.count, static_cast<std::uint64_t>(limit));
  images.pixels = read_payload(file, image * images.count, image * kept);
  return images;
}

std::vector<std::uint8_t> read_labels(const std::filesystem::path& path, std::uint32_t images,
                                      const std::filesystem::path& images_path) {
  DataFile file(path);
  const std::uint32_t count = read_header(file, 1)[0];
  if (count != images) {
    file.fail(4, std::to_string(count) + " labels",
              std::to_string(images) + ", one for each image of '" + images_path.string() + "'");
  }
  auto labels = read_payload(file, count, count);
  const auto bad = std::find_if(labels.begin(), labels.end(),
                                [](std::uint8_t label) { return label >= kLabels; });
  if (bad != labels.end()) {
    file.fail(8 + static_cast<std::uint64_t>(bad - labels.begin()), "label " + std::to_string(*bad),
              "a label from 0 to 9");
  }
  return labels;
}

/// The plain file or, if that is missing, the .gz; an empty path if both are.
std::filesystem::path find_file(const std::filesystem::path& folder, const std::string& name) {
  for (const char* suffix : {"", ".gz"}) {
    const auto path = folder / (name + suffix);
    std::error_code ignored;  // a file that cannot be examined is reported when it is opened
    const auto type = std::filesystem::symlink_status(path, ignored).type();
    if (type != std::filesystem::file_type::not_found) return path;
  }
  return {};
}

[[noreturn]] void fail_missing(const std::filesystem::path& folder, const std::string& found) {
  const std::string quoted = bash_quote(folder.string());
  throw Error(ErrorCode::missing_data, found,
              "a folder with the four files of MNIST, plain or .gz, such as '" +
                  (folder / images_file_name(Split::train)).string() + "'",
              "correct the path, draw digits with `trainer digits " + quoted +
                  "`, or download MNIST (in hpcboot's sources: setup/get-mnist --dir " + quoted +
                  ")");
}

void append_number(std::string& header, std::int64_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    header.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xff));
  }
}

std::string make_header(const std::vector<std::int64_t>& sizes) {
  std::string header = {0, 0, static_cast<char>(kUnsignedByte), static_cast<char>(sizes.size())};
  for (const std::int64_t size : sizes) append_number(header, size);
  return header;
}

void write_file(const std::filesystem::path& path, const std::string& header,
                const std::vector<std::uint8_t>& bytes) {
  const std::filesystem::path partial = path.string() + ".tmp." + std::to_string(::getpid());
  std::ofstream stream(partial, std::ios::binary | std::ios::trunc);
  stream.write(header.data(), static_cast<std::streamsize>(header.size()));
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  stream.close();
  std::error_code error;
  if (!stream) error.assign(errno, std::generic_category());
  if (!error) std::filesystem::rename(partial, path, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw Error(ErrorCode::unwritable_output, "'" + path.string() + "': " + error.message(),
                "a folder that this user can write to, with enough free disk space",
                "choose another folder, or free up disk space");
  }
}

}  // namespace

std::string images_file_name(Split split) {
  return split == Split::train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte";
}

std::string labels_file_name(Split split) {
  return split == Split::train ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte";
}

std::vector<std::string> mnist_files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const Split split : {Split::train, Split::test}) {
    for (const auto& name : {images_file_name(split), labels_file_name(split)}) {
      for (const char* suffix : {"", ".gz"}) {
        std::error_code ignored;
        const auto status = std::filesystem::symlink_status(folder / (name + suffix), ignored);
        if (std::filesystem::exists(status)) names.push_back(name + suffix);
      }
    }
  }
  return names;
}

ImageSet read_mnist(const std::filesystem::path& folder, Split split, std::int64_t limit) {
  if (limit < 0) throw std::invalid_argument("read_mnist: limit is negative");
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    fail_missing(folder, "no folder '" + folder.string() + "'");
  }
  const auto images_path = find_file(folder, images_file_name(split));
  const auto labels_path = find_file(folder, labels_file_name(split));
  if (images_path.empty() || labels_path.empty()) {
    std::string missing;
    if (images_path.empty()) missing += " " + images_file_name(split) + "[.gz]";
    if (labels_path.empty()) missing += " " + labels_file_name(split) + "[.gz]";
    fail_missing(folder, "the folder '" + folder.string() + "' lacks" + missing);
  }
  Images images = read_images(images_path, limit);
  ImageSet set;
  set.labels = read_labels(labels_path, images.count, images_path);
  if (limit > 0 && limit < static_cast<std::int64_t>(images.count)) {
    set.labels.resize(static_cast<std::size_t>(limit));
  }
  set.count = static_cast<std::int64_t>(set.labels.size());
  set.rows = images.rows;
  set.cols = images.cols;
  set.pixels = std::move(images.pixels);
  set.source = folder.string();
  return set;
}

void write_idx_images(const std::filesystem::path& file, const ImageSet& set) {
  write_file(file, make_header({set.count, set.rows, set.cols}), set.pixels);
}

void write_idx_labels(const std::filesystem::path& file, const ImageSet& set) {
  write_file(file, make_header({set.count}), set.labels);
}

}  // namespace hpcboot::data
