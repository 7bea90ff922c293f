#pragma once

#include <map>
#include <string>

// The files of jobscripts/ are a part of the program, so that a copy of it alone has them.
namespace hpcboot::jobscripts {

/// Texts by their file's name without its suffix.
using ShippedFiles = std::map<std::string, std::string>;

const ShippedFiles& shipped_templates();
const ShippedFiles& shipped_sites();

}  // namespace hpcboot::jobscripts
