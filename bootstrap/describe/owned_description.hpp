#pragma once

#include <string>

#include "description_text.hpp"

namespace hpcboot {

/// The launcher and the scheduler that `text` describes; both own their strings.
/// @param file for messages and for LaunchSource::file
DescribedLauncher describe(DescriptionText text, const std::string& file);

}  // namespace hpcboot
