#include "datasets/array_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "datasets/array_rows.hpp"

namespace hpcboot::data {
namespace {

using record::DType;

constexpr const char* kRemedy =
    "recreate the file, for example with `trainer convert`; data/README.md describes its contents";

constexpr const char* kImageArrays =
    "the arrays train/images, train/labels, test/images and test/labels";

/// About how many bytes of names an error shows.
constexpr std::size_t kNamesShown = 200;

std::string prefix(Split split) {
  return split == Split::train ? "train/" : "test/";
}

bool is_integer(const ArrayInfo& array) {
  constexpr DType kIntegers[] = {DType::u8,  DType::i8,  DType::i16, DType::u16,
                                 DType::i32, DType::u32, DType::i64, DType::u64};
  return array.readable &&
         std::find(std::begin(kIntegers), std::end(kIntegers), array.type) != std::end(kIntegers);
}

ImageShape check_images(const ArrayFile& file, const ArrayInfo& images) {
  if (!images.readable || (images.type != DType::u8 && images.type != DType::f32)) {
    throw file.wrong_type(images, "uint8 (0 to 255) or float32 (0 to 1)",
                          is_integer(images) ? "uint8" : "float32");
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

std::vector<std::uint8_t> read_labels(const ArrayFile& file, const ArrayInfo& labels,
                                      const ArrayInfo& images) {
  if (!is_integer(labels)) {
    throw file.wrong_type(labels, "integers", "int64");
  }
  if (labels.shape.size() != 1) {
    throw file.malformed(labels, "the shape " + shape_text(labels.shape), "one dimension");
  }
  if (labels.shape[0] != images.shape[0]) {
    throw file.malformed(
        labels, std::to_string(labels.shape[0]) + " labels",
        std::to_string(images.shape[0]) + ", one for each of '" + images.name + "'");
  }
  const std::int64_t count = labels.shape[0];
  const std::size_t size = record::size_of(labels.type);
  file.require_room(labels, count, 1, "labels");
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
               const ImageShape& shape, std::vector<std::uint8_t> labels, std::int64_t classes)
      : Dataset(static_cast<std::int64_t>(labels.size()), shape,
                images.type == DType::u8 ? PixelType::u8 : PixelType::f32, classes),
        file_(std::move(file)),
        images_(images),
        labels_(std::move(labels)) {}

  const std::vector<std::uint8_t>* labels() const override { return &labels_; }

 private:
  void read_checked(const std::int64_t* indices, std::int64_t number, std::uint8_t* pixels,
                    std::uint8_t* labels) const override {
    for (std::int64_t i = 0; i < number; ++i)
      labels[i] = labels_[static_cast<std::size_t>(indices[i])];
    read_rows(*file_, images_, "image", indices, number, pixels);
  }

  std::shared_ptr<const ArrayFile> file_;
  const ArrayInfo& images_;  // of file_
  std::vector<std::uint8_t> labels_;
};

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

const ArrayInfo& find_array(const ArrayFile& file, const std::string& name, const char* expected) {
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
              expected, kRemedy);
}

std::string images_array_name(Split split) {
  return prefix(split) + "images";
}
std::string labels_array_name(Split split) {
  return prefix(split) + "labels";
}
std::string source_array_name(Split split) {
  return prefix(split) + "source";
}
std::string target_array_name(Split split) {
  return prefix(split) + "target";
}

std::vector<std::string> set_array_names() {
  std::vector<std::string> names;
  for (const Split split : {Split::train, Split::test}) {
    for (const auto& name : {images_array_name(split), labels_array_name(split),
                             source_array_name(split), target_array_name(split)}) {
      names.push_back(name);
    }
  }
  return names;
}

void ArrayFile::require_room(const ArrayInfo& array, std::int64_t rows, std::int64_t values,
                             const char* things) const {
  const std::uint64_t most = array.most_elements / static_cast<std::uint64_t>(values);
  if (static_cast<std::uint64_t>(rows) <= most) return;
  throw malformed(
      array, std::to_string(rows) + " " + things,
      "at most " + std::to_string(most) + ", the most that a file of this size can hold");
}

Error ArrayFile::malformed(const ArrayInfo& array, const std::string& found,
                           const std::string& expected, const std::string& remedy) const {
  return Error(ErrorCode::malformed_data,
               "'" + path_.string() + "', array '" + array.name + "': " + found, expected,
               remedy.empty() ? kRemedy : remedy);
}

Error ArrayFile::wrong_type(const ArrayInfo& array, const std::string& expected,
                            const std::string& type) const {
  return malformed(array, "elements of type " + array.type_name, expected,
                   "save the array again in Python as " + type + ": x.astype(\"" + type +
                       "\") of NumPy, x.to(torch." + type + ") of PyTorch");
}

std::unique_ptr<Dataset> open_split(std::shared_ptr<const ArrayFile> file, Split split,
                                    std::int64_t limit) {
  const ArrayInfo& images = find_array(*file, images_array_name(split), kImageArrays);
  const ArrayInfo& labels = find_array(*file, labels_array_name(split), kImageArrays);
  const ImageShape shape = check_images(*file, images);
  auto values = read_labels(*file, labels, images);
  const std::int64_t classes = classes_of(values);  // of the whole split, whatever is kept of it
  if (limit > 0 && limit < images.shape[0]) values.resize(static_cast<std::size_t>(limit));
  return std::make_unique<ArrayDataset>(std::move(file), images, shape, std::move(values), classes);
}

}  // namespace hpcboot::data
