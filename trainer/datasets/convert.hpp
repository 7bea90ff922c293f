#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "datasets/formats.hpp"

namespace hpcboot::data {

struct ConvertOptions {
  StorageOptions storage;
  bool replace = false;  ///< overwrite existing data
  /// Called periodically: images, or pairs of sequences, done so far, and in total.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

/// Writes both splits of the data set at `source` to `target`, in the format that the name of
/// `target` implies. `target` appears only when it is complete.
/// @return the number of images, or of pairs of sequences
/// @throws Error{unwritable_output} if `target` exists or cannot be written;
///   Error{invalid_model_use} if the format cannot hold such images or has no storage options; what
///   format_of(), format_for_writing() and reading throw
std::int64_t convert(const std::string& source, const std::string& target,
                     const ConvertOptions& options);

}  // namespace hpcboot::data
