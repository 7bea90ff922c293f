#include "datasets/array_file.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace hpcboot::data {
namespace {

using record::DType;

constexpr const char* kRemedy =
    "recreate the file, for example with `trainer convert`; data/README.md describes its contents";

/// About how many bytes of names an error shows.
constexpr std::size_t kNamesShown = 200;

std::string prefix(Split split) {
  return split == Split::train ? "train/" : "test/";
}

const ArrayInfo& find_array(const ArrayFile& file, const std::string& name) {
  std::string names;
  std::string more;
  for (const ArrayInfo& array : file.arrays()) {
    if (array.name == name && array.trouble.empty()) return array;
    if (array.name == name) throw file.malformed(array, array.trouble, "an array that can be read");
    if (names.size() <= kNamesShown)
      names += (names.empty() ? "" : ", ") + array.name;
    else
      more = ", …";
  }
  throw Error(ErrorCode::missing_data,
              "'" + file.path().string() + "' (" + file.format() + ") has no array '" + name +
                  "'; it has " + (names.empty() ? "no arrays" : names + more),
              "the arrays train/images, train/labels, test/images and test/labels", kRemedy);
}

ImageShape check_images(const ArrayFile& file, const ArrayInfo& images) {
  if (!images.readable || (images.type != DType::u8 && images.type != DType::f32)) {
    throw file.malformed(images, "elements of type " + images.type_name,
                         "uint8 (0 to 255) or float32 (0 to 1)");
  }
  const auto& shape = images.shape;
  if (shape.size() != 3 && shape.size() != 4) {
    throw file.malformed(images, "the shape " + shape_text(shape),
                         "number x rows x columns, or number x channels x rows x columns");
  }
  if (shape[0] < 1) throw file.malformed(images, "no images", "at least one");
  const ImageShape image{shape.size() == 4 ? shape[1] : 1, shape[shape.size() - 2], shape.back()};
  const auto within = [](std::int64_t value, std::int64_t most) {
    return value >= 1 && value <= most;
  };
  if (!within(image.channels, kMaxChannels) || !within(image.rows, kMaxSide) ||
      !within(image.cols, kMaxSide)) {
    throw file.malformed(images, "images of " + to_string(image),
                         "1 to " + std::to_string(kMaxChannels) + " channels of 1 to " +
                             std::to_string(kMaxSide) + " rows and columns");
  }
  return image;
}

/// A uint64 that int64 cannot represent becomes negative, which is no valid label either.
std::int64_t integer_at(const std::uint8_t* bytes, DType type) {
  const auto as = [bytes](auto value) {
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<std::int64_t>(value);
  };
  if (type == DType::u8) return as(std::uint8_t{});
  if (type == DType::i8) return as(std::int8_t{});
  if (type == DType::i16) return as(std::int16_t{});
  if (type == DType::i32) return as(std::int32_t{});
  if (type == DType::u16) return as(std::uint16_t{});
  if (type == DType::u32) return as(std::uint32_t{});
  return as(std::int64_t{});
}

bool is_integer(const ArrayInfo& array) {
  constexpr DType kIntegers[] = {DType::u8,  DType::i8,  DType::i16, DType::u16,
                                 DType::i32, DType::u32, DType::i64, DType::u64};
  return array.readable &&
         std::find(std::begin(kIntegers), std::end(kIntegers), array.type) != std::end(kIntegers);
}

std::vector<std::uint8_t> read_labels(const ArrayFile& file, const ArrayInfo& labels,
                                      const ArrayInfo& images, std::int64_t count) {
  if (!is_integer(labels)) {
    throw file.malformed(labels, "elements of type " + labels.type_name, "integers");
  }
  if (labels.shape.size() != 1) {
    throw file.malformed(labels, "the shape " + shape_text(labels.shape), "one dimension");
  }
  if (labels.shape[0] != images.shape[0]) {
    throw file.malformed(
        labels, std::to_string(labels.shape[0]) + " labels",
        std::to_string(images.shape[0]) + ", one for each of '" + images.name + "'");
  }
  const std::size_t size = record::size_of(labels.type);
  if (static_cast<std::uint64_t>(count) > labels.most_elements) {
    throw file.malformed(labels, std::to_string(count) + " labels",
                         "at most " + std::to_string(labels.most_elements) +
                             ", the most that a file of this size can hold");
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) * size);
  file.read(labels, {{0, count}}, bytes.data());
  std::vector<std::uint8_t> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t label = integer_at(bytes.data() + i * size, labels.type);
    if (label < 0 || label >= kMaxClasses) {
      throw file.malformed(labels, "label " + std::to_string(label) + " at " + std::to_string(i),
                           "a label from 0 to " + std::to_string(kClasses - 1) + ", or to " +
                               std::to_string(kMaxClasses - 1) + " in a set of " +
                               std::to_string(kMaxClasses) + " classes");
    }
    values[i] = static_cast<std::uint8_t>(label);
  }
  return values;
}

/// The files do not contain the number of classes.
std::int64_t classes_of(const std::vector<std::uint8_t>& labels) {
  const auto largest = std::max_element(labels.begin(), labels.end());
  return largest == labels.end() || *largest < kClasses ? kClasses : kMaxClasses;
}

class ArrayDataset : public Dataset {
 public:
  ArrayDataset(std::shared_ptr<const ArrayFile> file, const ArrayInfo& images,
               const ImageShape& shape, std::vector<std::uint8_t> labels)
      : Dataset(static_cast<std::int64_t>(labels.size()), shape,
                images.type == DType::u8 ? PixelType::u8 : PixelType::f32, classes_of(labels)),
        file_(std::move(file)),
        images_(images),
        labels_(std::move(labels)) {}

 private:
  void read_checked(const std::int64_t* indices, std::int64_t number, std::uint8_t* pixels,
                    std::uint8_t* labels) const override;
  void read_images(const std::vector<RowRun>& runs, std::uint8_t* out) const;

  std::shared_ptr<const ArrayFile> file_;
  const ArrayInfo& images_;  // of file_
  std::vector<std::uint8_t> labels_;
};

void ArrayDataset::read_images(const std::vector<RowRun>& runs, std::uint8_t* out) const {
  try {
    file_->read(images_, runs, out);
  } catch (const Error&) {
    // Read the images one by one to find the one that fails.
    for (const RowRun& run : runs) {
      for (std::int64_t index = run.first; index < run.first + run.count; ++index) {
        try {
          file_->read(images_, {{index, 1}}, out);
        } catch (const Error& failure) {
          throw Error(failure.code(), "image " + std::to_string(index) + ": " + failure.found(),
                      failure.expected(), failure.remedy());
        }
      }
    }
    throw;
  }
}

void ArrayDataset::read_checked(const std::int64_t* indices, std::int64_t number,
                                std::uint8_t* pixels, std::uint8_t* labels) const {
  if (number == 0) return;
  const auto total = static_cast<std::size_t>(number);
  for (std::size_t i = 0; i < total; ++i) labels[i] = labels_[static_cast<std::size_t>(indices[i])];

  // A shuffled batch is read in file order, each image once, and distributed afterwards.
  std::vector<std::size_t> order(total);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return indices[a] < indices[b]; });
  std::vector<RowRun> runs;
  std::vector<std::size_t> place(total);  // of image indices[i] among those that are read
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < total; ++i) {
    const std::int64_t index = indices[order[i]];
    const bool repeated = i > 0 && indices[order[i - 1]] == index;
    if (!repeated) {
      if (!runs.empty() && runs.back().first + runs.back().count == index) {
        ++runs.back().count;
      } else {
        runs.push_back({index, 1});
      }
      ++distinct;
    }
    place[order[i]] = distinct - 1;
  }
  const std::size_t bytes = image_bytes();
  if (distinct == total && std::is_sorted(indices, indices + number)) {
    read_images(runs, pixels);
    return;
  }
  std::vector<std::uint8_t> sorted(distinct * bytes);
  read_images(runs, sorted.data());
  for (std::size_t i = 0; i < total; ++i) {
    std::copy_n(sorted.data() + place[i] * bytes, bytes, pixels + i * bytes);
  }
}

}  // namespace

std::string type_name_of(DType type) {
  switch (type) {
    case DType::boolean:
      return "bool";
    case DType::u8:
      return "uint8";
    case DType::i8:
      return "int8";
    case DType::i16:
      return "int16";
    case DType::u16:
      return "uint16";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::i32:
      return "int32";
    case DType::u32:
      return "uint32";
    case DType::f32:
      return "float32";
    case DType::f64:
      return "float64";
    case DType::i64:
      return "int64";
    case DType::u64:
      return "uint64";
  }
  return "unknown";
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

std::string images_array_name(Split split) {
  return prefix(split) + "images";
}
std::string labels_array_name(Split split) {
  return prefix(split) + "labels";
}

Error ArrayFile::malformed(const ArrayInfo& array, const std::string& found,
                           const std::string& expected) const {
  return Error(ErrorCode::malformed_data,
               "'" + path_.string() + "', array '" + array.name + "': " + found, expected, kRemedy);
}

std::unique_ptr<Dataset> open_split(std::shared_ptr<const ArrayFile> file, Split split,
                                    std::int64_t limit) {
  const ArrayInfo& images = find_array(*file, images_array_name(split));
  const ArrayInfo& labels = find_array(*file, labels_array_name(split));
  const ImageShape shape = check_images(*file, images);
  const std::int64_t count = limit == 0 ? images.shape[0] : std::min(limit, images.shape[0]);
  auto values = read_labels(*file, labels, images, count);
  return std::make_unique<ArrayDataset>(std::move(file), images, shape, std::move(values));
}

}  // namespace hpcboot::data
