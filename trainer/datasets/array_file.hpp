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
  bool readable = true;                    ///< false: read() does not support the type
  /// The most elements that the file can hold, at the best possible compression.
  std::uint64_t most_elements = std::numeric_limits<std::uint64_t>::max();
  std::string trouble;              ///< why it cannot be opened at all; usually empty
  std::string type_name;            ///< as the file has it: "uint8", "float32"
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  std::vector<std::int64_t> chunk;  ///< empty if the array is contiguous
  std::string filters;              ///< "gzip 4, fletcher32"; empty if there are none
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

/// A file of named arrays, in any format. It stores a set of images as `train/images`,
/// `train/labels`, `test/images` and `test/labels`, and one of sequences as `train/source`,
/// `train/target`, `test/source` and `test/target`.
class ArrayFile {
 public:
  virtual ~ArrayFile() = default;
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// "HDF5".
  const std::string& format() const noexcept { return format_; }
  const std::vector<ArrayInfo>& arrays() const noexcept { return arrays_; }

  /// Reads these rows of a readable array into `out`, one after the other. They must lie within the
  /// array, ascend and not overlap. Several threads may call it at once.
  /// @throws Error{malformed_data, unreadable_file}
  virtual void read(const ArrayInfo& array, const std::vector<RowRun>& runs, void* out) const = 0;

  /// A small file may claim any number of rows: call this before making room for them.
  /// @param things what a row is, such as "labels"
  /// @throws Error{malformed_data} if the file cannot hold this many rows of `values` elements
  void require_room(const ArrayInfo& array, std::int64_t rows, std::int64_t values,
                    const char* things) const;

  /// The Error{malformed_data} that names the file and the array.
  /// @param remedy instead of recreating the file
  Error malformed(const ArrayInfo& array, const std::string& found, const std::string& expected,
                  const std::string& remedy = "") const;
  /// The same for elements of a type that cannot be used.
  /// @param type one that can, which the remedy names
  Error wrong_type(const ArrayInfo& array, const std::string& expected,
                   const std::string& type) const;

 protected:
  ArrayFile(std::filesystem::path path, std::string format)
      : path_(std::move(path)), format_(std::move(format)) {}

  std::vector<ArrayInfo> arrays_;  ///< filled by the format's constructor

 private:
  std::filesystem::path path_;
  std::string format_;
};

/// One split of the data set in a file. Images are read on demand, so that each rank reads only its
/// own; every rank reads all labels, which are small.
/// It has kClasses classes if all labels are below that, else kMaxClasses.
/// @param limit keep only the first images; 0: all
/// @throws Error{missing_data} if an array is missing; Error{malformed_data} if one has the wrong
///   type or shape, the counts differ, or a label is not in 0 to kMaxClasses - 1
std::unique_ptr<Dataset> open_split(std::shared_ptr<const ArrayFile> file, Split split,
                                    std::int64_t limit);

/// The names of the arrays of a split: "train/images", "test/labels"; of sequences "train/source",
/// "test/target".
std::string images_array_name(Split split);
std::string labels_array_name(Split split);
std::string source_array_name(Split split);
std::string target_array_name(Split split);
/// All of them, of both splits.
std::vector<std::string> set_array_names();

/// The array of this name.
/// @param expected the arrays of such a set, for the message
/// @throws Error{missing_data} if there is none; Error{malformed_data} if it cannot be opened
const ArrayInfo& find_array(const ArrayFile& file, const std::string& name, const char* expected);

}  // namespace hpcboot::data
