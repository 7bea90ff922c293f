#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Parsing the output of scheduler commands.
namespace hpcboot::jobscripts {

/// The parts between separators, without surrounding blanks; always one more than separators.
std::vector<std::string> split(std::string_view text, char separator);

/// Words separated by blanks and newlines.
std::vector<std::string> words_in(std::string_view text);

std::string trimmed(std::string_view text);

/// The rest of the first line that starts with "NAME = ", "NAME=" or, for Grid Engine, "NAME ".
/// Empty if there is no such line.
std::string value_of(std::string_view text, std::string_view name);

/// Blocks of lines of `qstat -Qf` and `pbsnodes -a`: the indented lines, by the name on the
/// unindented line above them ("n1"; "workq" for "Queue: workq").
std::map<std::string, std::string> blocks_of(const std::string& text);

/// VALUE of NAME=VALUE in a comma-separated list. Empty if there is none.
std::string part_of(std::string_view list, const std::string& name);

/// The leading number: 64 of "64+", "64(S:0-1)"; 0 if there is none.
int leading_number(std::string_view text);

/// Gibibytes, rounded down, of "512000M", "503.2G", "263761848kb", "1tb"; a plain number is in
/// `unit`. 0 if it is invalid.
int gibibytes(std::string_view text, char unit);

/// Seconds of "1-12:00:00", "24:00:00", "30:00" or "86400"; nullopt for "infinite" and similar.
/// @param two_parts_are_hours "24:00" is a day, as in LSF, and not 24 minutes
std::optional<int> seconds_of(std::string_view text, bool two_parts_are_hours = false);

}  // namespace hpcboot::jobscripts
