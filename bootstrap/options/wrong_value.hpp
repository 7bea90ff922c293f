#pragma once

#include <optional>
#include <string>

#include "options/command.hpp"

// What is wrong with a name or a value, wherever it was given.
namespace hpcboot::options {

/// An option of a similar name; empty if there is none.
std::string nearest_option(const std::vector<Group>& groups, const std::string& given);

/// "unknown verb 'lnit'; did you mean lint? hpcboot --help lists the verbs".
/// @return empty if `must_be_near` and no verb has a similar name
std::string wrong_verb(const Program& program, const std::string& given, bool must_be_near = false);

/// What a value that cannot be parsed should have been: "a number", "a number of at most
/// 2147483647".
/// @param semantic of the option; may be null
std::string expected_value(const po::value_semantic* semantic, const std::string& given);

/// "--mode is 'x'; expected auto, single, dp or ddp": of a value that is not one of the choices.
std::optional<std::string> wrong_choice(const Option& option, const std::string& given);

}  // namespace hpcboot::options
