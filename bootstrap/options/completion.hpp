#pragma once

#include "hpcboot/encode.hpp"
#include "options/command.hpp"

namespace hpcboot::options {

/// The shells that shell_completion() knows.
const std::vector<std::string>& shells();

/// A script that completes a program's verbs, options and their values in a shell of shells(). The
/// script gets sites and jobs from `hpcboot completion --list KIND` on demand.
Encoded shell_completion(const Program& program, const std::string& shell);

/// All words that a shell offers for a value, separated by spaces: its choices, then suggestions.
std::string offered_words(const Value& value);

Encoded bash_completion(const Program& program);
Encoded zsh_completion(const Program& program);
Encoded fish_completion(const Program& program);

}  // namespace hpcboot::options
