#pragma once

#include <map>
#include <string>

// The files of jobscripts/ are compiled into the program, so that a copied binary includes them.
namespace hpcboot::jobscripts {

/// File contents by file name without suffix.
using ShippedFiles = std::map<std::string, std::string>;

const ShippedFiles& shipped_templates();
const ShippedFiles& shipped_sites();

}  // namespace hpcboot::jobscripts
