#pragma once

#include <string>
#include <vector>

#include "verbs.hpp"

// What --help prints, taken for other ends: completion and the manual have no text of their own.
namespace hpcboot::tool {

// The output of `hpcboot VERB --help`.
std::string help_of(const Verb& verb);

// What may follow the verb: its options ("--json"), and the words of its usage line that stand for
// a choice ("expand|compress").
std::vector<std::string> words_after(const Verb& verb);

}  // namespace hpcboot::tool
