#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/encode.hpp"

// `hpcboot lint`: reports what is wrong with a batch script before it is submitted.
namespace hpcboot::lint {

/// An error: the scheduler rejects or ignores it, or every run fails. A warning: some runs fail.
enum class Severity { error, warning };

/// "error" or "warning".
const char* name_of(Severity severity) noexcept;

struct Finding {
  std::string rule;  ///< the rule's id, as in rules()
  Severity severity = Severity::error;
  int line = 1;    ///< starts at 1
  int column = 1;  ///< in bytes, starts at 1
  std::string found;
  std::string why;     ///< why it is a problem
  std::string remedy;  ///< what to write instead
};

struct RuleSummary {
  const char* id;
  Severity severity;  ///< the default; single findings may deviate
  const char* summary;
};

/// Every rule, in the order of the documentation. Ids are stable.
std::vector<RuleSummary> rules();

/// The findings for the text of a script, sorted by line and column, except for rules in `disabled`
/// and those that the script disables with a comment `# hpcboot-lint: disable=ID,ID`.
/// Accepts any bytes; throws only std::bad_alloc.
std::vector<Finding> check_script(std::string_view text,
                                  const std::set<std::string>& disabled = {});

/// The finding in compiler format: "FILE:LINE:COLUMN: error: … [ID]", without a newline.
Encoded format_line(std::string_view file, const Finding& finding);

/// format_line() followed by aligned lines for why and what to do; each line ends with a newline.
Encoded format_text(std::string_view file, const Finding& finding);

}  // namespace hpcboot::lint
