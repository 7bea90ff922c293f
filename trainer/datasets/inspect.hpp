#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datasets/formats.hpp"
#include "json/bounded_json.hpp"

namespace hpcboot::data {

/// One split of a data set, with its first images drawn.
struct SplitInfo {
  std::string name;  ///< "train", "test"
  std::int64_t count = 0;
  std::string sequences;  ///< "1x512 (float32) to 20x512 (float32)"; empty if it has images
  ImageShape shape;
  PixelType type = PixelType::u8;
  std::int64_t classes = 0;
  std::vector<int> labels;                      ///< of the images drawn
  std::vector<std::vector<std::string>> drawn;  ///< lines of each
};

/// The contents of a place that --data accepts, of any file of arrays, or of a model in several
/// files.
struct Inspection {
  std::string place;
  std::string format;
  std::vector<ArrayInfo> arrays;  ///< empty if the set is not a file of arrays
  std::vector<SplitInfo> splits;  ///< those that the trainer can read
  std::string remark;             ///< why one cannot be read; may be empty
};

/// @param images how many to draw of each split
/// @throws what format_of() and Format::arrays throw
Inspection inspect(const std::string& place, std::int64_t images);

/// For people. @param width of the terminal, in columns
Encoded to_text(const Inspection& inspection, std::int64_t width);
Json to_json(const Inspection& inspection);

}  // namespace hpcboot::data
