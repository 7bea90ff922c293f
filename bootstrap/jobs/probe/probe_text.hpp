#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Reading what schedulers' commands print.
namespace hpcboot::jobscripts {

/// Parts between separators, blanks around them removed; as many as there are separators, and one.
std::vector<std::string> split(std::string_view text, char separator);

/// Words between blanks and line ends.
std::vector<std::string> words_in(std::string_view text);

std::string trimmed(std::string_view text);

/// What stands behind the first "NAME = ", "NAME=" or, of Grid Engine, "NAME " at the beginning of
/// a line, to its end. Empty if there is no such line.
std::string value_of(std::string_view text, std::string_view name);

/// Blocks of lines, of `qstat -Qf` and `pbsnodes -a`: by what stands in the first column ("n1",
/// "Queue: workq" by "workq") the lines below it, which are indented there.
std::map<std::string, std::string> blocks_of(const std::string& text);

/// VALUE of NAME=VALUE among the parts of a list with commas. Empty if there is none.
std::string part_of(std::string_view list, const std::string& name);

/// A number at the beginning: 64 of "64+", "64(S:0-1)"; 0 if there is none.
int leading_number(std::string_view text);

/// Gibibytes, rounded down, of "512000M", "503.2G", "263761848kb", "1tb"; a plain number counts in
/// `unit`. 0 if it is none.
int gibibytes(std::string_view text, char unit);

/// Seconds of "1-12:00:00", "24:00:00", "30:00" or "86400"; nullopt for "infinite" and the like.
/// @param two_parts_are_hours "24:00" is a day, as in LSF, and not 24 minutes
std::optional<int> seconds_of(std::string_view text, bool two_parts_are_hours = false);

}  // namespace hpcboot::jobscripts
