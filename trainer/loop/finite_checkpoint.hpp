#pragma once

#include <filesystem>

#include "hpcboot/error.hpp"

namespace hpcboot::train {

/// The error of a run that has diverged, with the newest of its checkpoints, or else the best one,
/// in which all numbers are finite, if there is one. Reads the files.
/// @param folder of the checkpoints
Error with_finite_checkpoint(const Error& diverged, const std::filesystem::path& folder);

}  // namespace hpcboot::train
