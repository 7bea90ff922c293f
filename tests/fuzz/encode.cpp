#include "hpcboot/encode.hpp"

#include <algorithm>
#include <string>

#include "fuzz.hpp"

namespace {

// How a shell parses a line of plain and single-quoted parts.
std::string unquoted(const std::string& line) {
  std::string word;
  bool in_quotes = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\'') {
      in_quotes = !in_quotes;
    } else if (!in_quotes && line[i] == '\\') {
      word += line[++i];
    } else {
      hpcboot::fuzz::require(
          in_quotes || std::string(" \t\n;&|<>()$`\"*?[#~!").find(line[i]) == std::string::npos,
          "no special characters outside quotes");
      word += line[i];
    }
  }
  return word;
}

}  // namespace

// Any bytes, in each encoder: the output is safe in its sink, and is the text itself if nothing
// must be encoded.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  const std::string text(fuzz::text_of(data, size));
  const std::string line = terminal_text(text).str();
  fuzz::require(is_printable(line), "no terminal control characters");
  fuzz::require(terminal_text(line).str() == line, "encoding is idempotent");
  fuzz::require(is_printable(text) == (line == text), "printable text is unchanged");
  fuzz::require(unquoted(shell_quote(text)) == text, "a shell reads the word back");
  for (const std::string& one : {csv_field(text), markdown_text(text), html_text(text)})
    fuzz::require(is_printable(one), "no terminal control characters in documents");
  const std::string field = csv_field(text);
  const char first = field.size() > 1 && field[0] == '"' ? field[1]
                     : field.empty()                     ? ' '
                                                         : field[0];
  fuzz::require(std::string("=+-@").find(first) == std::string::npos, "no formula");
  const std::string html = html_text(text);
  fuzz::require(html.find_first_of("<>\"'") == std::string::npos, "no tag, no end of an attribute");
  const std::string yaml = yaml_scalar(text);
  fuzz::require(is_printable(yaml), "a scalar is one line of characters that a terminal shows");
  return 0;
}
