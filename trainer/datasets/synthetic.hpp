#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "datasets/dataset.hpp"

namespace hpcboot::data {

/// `synthetic:NxCxHxW`: N training images and N / 6 (at least one) for validation, computed on
/// demand: noise, with a bright bar whose position gives the label, so that a model can learn them.
/// The same on every machine and in every run; needs no file and no memory.
constexpr std::string_view kSyntheticPrefix = "synthetic:";

/// The four numbers of NxCxHxW, or zeros.
std::array<std::int64_t, 4> parse_sizes(std::string_view text);

/// @throws Error{missing_data} if the text does not have this form, or a size is out of range
std::unique_ptr<Dataset> open_synthetic(const std::string& text, Split split, std::int64_t limit);

}  // namespace hpcboot::data
