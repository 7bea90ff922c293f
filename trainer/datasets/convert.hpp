#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "datasets/formats.hpp"

namespace hpcboot::data {

struct ConvertOptions {
  StorageOptions storage;
  bool replace = false;  ///< write over what is there
  /// Called now and then: images done so far, and in all.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

/// Writes the data set at `source`, both halves, to `target` in the format that its name says. It
/// appears there when it is complete.
/// @return the number of images
/// @throws Error{unwritable_output} where something is there already, or it cannot be written;
///   Error{invalid_model_use} where the format cannot hold such images, or takes no such storage
///   options; what format_of(), format_for_writing() and reading throw
std::int64_t convert(const std::string& source, const std::string& target,
                     const ConvertOptions& options);

}  // namespace hpcboot::data
