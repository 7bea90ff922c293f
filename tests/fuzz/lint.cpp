#include "jobs/lint/lint.hpp"

#include <algorithm>

#include "fuzz.hpp"

// Any bytes are read as a script: findings are at existing positions, in order, each with its texts
// on single lines.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  const std::string_view text = fuzz::text_of(data, size);
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  int line = 1;
  for (const lint::Finding& finding : lint::check_script(text)) {
    fuzz::require(finding.line >= line && finding.line <= lines, "the line exists in the script");
    fuzz::require(finding.column >= 1 && finding.column <= static_cast<int>(size) + 1,
                  "the column exists in the script");
    line = finding.line;
    fuzz::require(!finding.found.empty() && !finding.why.empty() && !finding.remedy.empty(),
                  "a finding has all its parts");
    const std::string told = lint::format_text("f", finding).str();
    fuzz::require(std::count(told.begin(), told.end(), '\n') == 3, "a finding takes three lines");
  }
  return 0;
}
