#pragma once

#include <string>

namespace hpcboot::run {

// ":" as "{:}" and back, for a word on a launcher's command line. One that looks like the hidden
// form gets one more pair of braces, so that every word comes back as it was.
std::string hide_colon(const std::string& word);
std::string show_colon(const std::string& word);

}  // namespace hpcboot::run
