#include "datasets/cifar_pickle.hpp"

#include <algorithm>
#include <string>

#include "datasets/data_file.hpp"
#include "datasets/pickle_values.hpp"

namespace hpcboot::data {
namespace {

using Kind = PickleValue::Kind;

constexpr std::uint64_t kMaxBytes = std::uint64_t{2} << 30;

[[noreturn]] void fail(const PickleValue& value, const std::string& found,
                       const std::string& expected) {
  throw PickleError(value.offset, found, expected);
}

const PickleValue& member(const PickleValue& dict, const char* key, Kind kind,
                          const std::string& expected) {
  const PickleValue* const value = find_key(dict, key);
  if (value == nullptr) fail(dict, std::string("a dict without '") + key + "'", expected);
  if (value->kind != kind)
    fail(*value, "'" + std::string(key) + "': " + description_of(*value), expected);
  return *value;
}

/// Whether it is NumPy's `name`, created by a call of the global `how`.
bool is_call_of(const PickleValue& value, std::string_view how, std::string_view name) {
  if (value.kind != Kind::call || value.parts[0]->text != how) return false;
  const auto& arguments = value.parts[1]->parts;
  return !arguments.empty() && arguments[0]->text == name;
}

bool is_bytes(const PickleValue& type) {
  return is_call_of(type, "dtype", "u1") || is_call_of(type, "dtype", "|u1");
}

/// The images of a batch: N x 3072 bytes.
struct Rows {
  std::string_view bytes;
  std::size_t count = 0;
  bool by_column = false;  ///< in Fortran's order
};

Rows rows_of(const PickleValue& array) {
  const std::string expected = "'data', an array of N x 3072 bytes";
  if (!is_call_of(array, "_reconstruct", "ndarray") || array.parts.size() != 3)
    fail(array, "'data': " + description_of(array), expected);
  // The state of an array: version, shape, type, whether it is in Fortran's order, the elements.
  const auto& state = array.parts[2]->parts;
  if (state.size() != 5 || state[1]->kind != Kind::tuple || state[3]->kind != Kind::boolean ||
      state[4]->kind != Kind::text) {
    fail(*array.parts[2], "'data': an array of another version of NumPy", expected);
  }
  if (!is_bytes(*state[2])) fail(*state[2], "'data': elements of another type", expected);
  const auto& shape = state[1]->parts;
  const Rows rows{state[4]->text, state[4]->text.size() / kCifarImage, state[3]->integer != 0};
  if (shape.size() != 2 || shape[0]->kind != Kind::integer || shape[1]->kind != Kind::integer ||
      shape[1]->integer != static_cast<std::int64_t>(kCifarImage) || shape[0]->integer < 1) {
    std::string found;
    for (const PickleValue* size : shape)
      found += (found.empty() ? "" : " x ") + description_of(*size);
    fail(*state[1], "'data' of the shape " + found.substr(0, 80), expected);
  }
  if (shape[0]->integer != static_cast<std::int64_t>(rows.count) ||
      rows.bytes.size() % kCifarImage != 0) {
    fail(*state[4], "'data': " + std::to_string(rows.bytes.size()) + " bytes",
         std::to_string(shape[0]->integer) + " x 3072");
  }
  return rows;
}

void append_rows(const Rows& rows, std::size_t count, std::vector<std::uint8_t>& pixels) {
  const std::size_t before = pixels.size();
  if (!rows.by_column) {
    pixels.insert(pixels.end(), rows.bytes.begin(),
                  rows.bytes.begin() + static_cast<std::ptrdiff_t>(count * kCifarImage));
    return;
  }
  pixels.resize(before + count * kCifarImage);
  for (std::size_t at = 0; at < kCifarImage; ++at) {
    for (std::size_t row = 0; row < count; ++row) {
      pixels[before + row * kCifarImage + at] =
          static_cast<std::uint8_t>(rows.bytes[at * rows.count + row]);
    }
  }
}

std::string read_text(DataFile& file) {
  const std::uint64_t size = file.max_size();
  if (size > kMaxBytes) {
    file.fail(0, "a file of " + std::to_string(size) + " bytes",
              "at most " + std::to_string(kMaxBytes));
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  text.resize(file.read(reinterpret_cast<std::uint8_t*>(text.data()), text.size()));
  return text;
}

}  // namespace

void take_cifar_pickle(std::string_view pickle, std::int64_t classes, std::int64_t most,
                       CifarImages& images) {
  const PickleValues values(pickle);
  const PickleValue& root = values.root();
  const char* const key = classes > kClasses ? "fine_labels" : "labels";
  const std::string expected = std::string("a dict with 'data' and '") + key + "'";
  if (root.kind != Kind::dict) fail(root, description_of(root), expected);
  const Rows rows = rows_of(member(root, "data", Kind::call, expected));
  const PickleValue& labels = member(root, key, Kind::list, expected + ", a list");
  if (labels.parts.size() != rows.count) {
    fail(labels, std::to_string(labels.parts.size()) + " labels",
         std::to_string(rows.count) + ", one for each image");
  }
  for (const PickleValue* label : labels.parts) {
    if (label->kind == Kind::integer && label->integer >= 0 && label->integer < classes) continue;
    fail(*label, "label " + description_of(*label),
         "a label from 0 to " + std::to_string(classes - 1));
  }
  const std::size_t count = std::min(rows.count, static_cast<std::size_t>(most));
  append_rows(rows, count, images.pixels);
  for (std::size_t i = 0; i < count; ++i)
    images.labels.push_back(static_cast<std::uint8_t>(labels.parts[i]->integer));
}

void read_cifar_pickle(const std::filesystem::path& path, std::int64_t classes, std::int64_t most,
                       CifarImages& images) {
  DataFile file(path, cifar_remedy(path.parent_path(), classes, /*is_binary=*/false));
  const std::string text = read_text(file);
  try {
    take_cifar_pickle(text, classes, most, images);
  } catch (const PickleError& error) {
    file.fail(error.offset, error.what(), error.expected);
  }
}

}  // namespace hpcboot::data
