#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "datasets/sequence_set.hpp"

namespace hpcboot::data {

/// `sequences:NxSxTxE`: N training pairs and N / 6 (at least one) for validation, of sources of S
/// and targets of T vectors of E numbers, computed on demand. Eight random signs decide a pair:
/// they are mixed, with some noise, in each vector of the source, and in another way in each vector
/// of the target, so that a model can learn to write the target. The same on every machine and in
/// every run.
constexpr std::string_view kSequencesPrefix = "sequences:";

/// @throws Error{missing_data} if the text does not have this form, or a size is out of range
std::unique_ptr<SequenceSet> open_synthetic_sequences(const std::string& text, Split split,
                                                      std::int64_t limit);

}  // namespace hpcboot::data
