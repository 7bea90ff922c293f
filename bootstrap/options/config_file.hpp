#pragma once

#include <string>
#include <vector>

#include "options/option.hpp"

namespace hpcboot::options {

/// Reads the lines `NAME = VALUE` of a configuration file into `values`; options that are already
/// set there keep their values. A `#` begins a comment at the start of a line or of a word, except
/// in a value in double quotes.
/// @param file names it in errors
/// @throws UsageError with file, line and what was expected
void store_config(const std::vector<Group>& groups, const std::string& file,
                  const std::string& text, po::variables_map& values);

}  // namespace hpcboot::options
