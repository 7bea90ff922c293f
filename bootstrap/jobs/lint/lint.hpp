#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/encode.hpp"

// `hpcboot lint`: what is wrong with a batch job script, told before it is submitted.
namespace hpcboot::lint {

/// An error is refused or ignored by the scheduler, or goes wrong in every run; a warning is what
/// goes wrong in some.
enum class Severity { error, warning };

/// "error" or "warning".
const char* name_of(Severity severity) noexcept;

struct Finding {
  std::string rule;  ///< the rule's id, as in rules()
  Severity severity = Severity::error;
  int line = 1;    ///< from 1
  int column = 1;  ///< in bytes, from 1
  std::string found;
  std::string why;     ///< why it bites
  std::string remedy;  ///< what to write instead
};

struct RuleSummary {
  const char* id;
  Severity severity;  ///< the usual one; a finding may be milder where a scheduler is
  const char* summary;
};

/// Every rule, in the order of the documentation. Ids are stable.
std::vector<RuleSummary> rules();

/// What the rules find in the text of a script, sorted by line and column, save those of `disabled`
/// and those that the script itself turns off with a comment `# hpcboot-lint: disable=ID,ID`.
/// Any bytes are taken; nothing is thrown but std::bad_alloc.
std::vector<Finding> check_script(std::string_view text,
                                  const std::set<std::string>& disabled = {});

/// The finding as compilers write theirs: "FILE:LINE:COLUMN: error: … [ID]", without a line end.
Encoded format_line(std::string_view file, const Finding& finding);

/// format_line() and, aligned beneath it, why and what to do; each line ends with a line end.
Encoded format_text(std::string_view file, const Finding& finding);

}  // namespace hpcboot::lint
