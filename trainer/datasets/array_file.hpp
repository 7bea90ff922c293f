#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "hpcboot/error.hpp"
#include "record/safetensors.hpp"

namespace hpcboot::data {

/// An array in a file, such as "train/images".
struct ArrayInfo {
  std::string name;
  record::DType type = record::DType::u8;  ///< of the elements as read() delivers them
  bool readable = true;                    ///< false: of a type that read() does not deliver
  /// As many elements as the file can hold, however well it is compressed.
  std::uint64_t most_elements = std::numeric_limits<std::uint64_t>::max();
  std::string trouble;              ///< why it cannot be opened at all; mostly empty
  std::string type_name;            ///< as the file has it: "uint8", "float32"
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  std::vector<std::int64_t> chunk;  ///< empty where the array is stored in one piece
  std::string filters;              ///< "gzip 4, fletcher32"; empty where there are none
};

/// "uint8": what NumPy and PyTorch call the type.
std::string type_name_of(record::DType type);
/// "60000 x 28 x 28", "scalar".
std::string shape_text(const std::vector<std::int64_t>& shape);

/// Neighbouring rows: elements of an array's first dimension.
struct RowRun {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// A file of named arrays, of whichever format. A data set lies in it as `train/images`,
/// `train/labels`, `test/images` and `test/labels`.
class ArrayFile {
 public:
  virtual ~ArrayFile() = default;
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// "HDF5".
  const std::string& format() const noexcept { return format_; }
  const std::vector<ArrayInfo>& arrays() const noexcept { return arrays_; }

  /// Reads these rows of a readable array, which lie within it, ascending and without overlap, one
  /// after the other into `out`. Several threads may call it at once.
  /// @throws Error{malformed_data, unreadable_file}
  virtual void read(const ArrayInfo& array, const std::vector<RowRun>& runs, void* out) const = 0;

  /// The Error{malformed_data} that names the file and the array.
  Error malformed(const ArrayInfo& array, const std::string& found,
                  const std::string& expected) const;

 protected:
  ArrayFile(std::filesystem::path path, std::string format)
      : path_(std::move(path)), format_(std::move(format)) {}

  std::vector<ArrayInfo> arrays_;  ///< filled by the format's constructor

 private:
  std::filesystem::path path_;
  std::string format_;
};

/// Half of the data set in a file. Images are read when they are asked for, so each rank reads its
/// own; of the labels, which are small, every rank reads all.
/// @param limit keeps the first images only, 0 all
/// @throws Error{missing_data} where an array is not there; Error{malformed_data} where one has
///   another type or shape, numbers differ, or a label is not from 0 to kClasses - 1
std::unique_ptr<Dataset> open_split(std::shared_ptr<const ArrayFile> file, Split split,
                                    std::int64_t limit);

/// The names of the arrays of a half: "train/images", "test/labels".
std::string images_array_name(Split split);
std::string labels_array_name(Split split);

}  // namespace hpcboot::data
