#pragma once

#include <string>

namespace hpcboot::run {

// Converts ":" to "{:}" and back, for a word on a launcher's command line. A word that already has
// the hidden form gets one more pair of braces, so that every word is restored exactly.
std::string hide_colon(const std::string& word);
std::string show_colon(const std::string& word);

}  // namespace hpcboot::run
