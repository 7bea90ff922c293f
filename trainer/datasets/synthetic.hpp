#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "datasets/dataset.hpp"

namespace hpcboot::data {

/// `synthetic:NxCxHxW`: N images to learn from and N / 6 (at least one) to validate with, computed
/// when they are asked for: noise, with a bright bar whose place tells the label, so that a model
/// can learn them. The same on every machine and in every run; no file and no memory.
constexpr std::string_view kSyntheticPrefix = "synthetic:";

/// @throws Error{missing_data} where the text is not of this form, or a size is beyond what is
/// taken
std::unique_ptr<Dataset> open_synthetic(const std::string& text, Split split, std::int64_t limit);

}  // namespace hpcboot::data
