#include "hpcboot/encode.hpp"

#include <algorithm>
#include <string>

#include "fuzz.hpp"

namespace {

// What a shell makes of a line of plain and single-quoted parts.
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
          "nothing special outside of quotes");
      word += line[i];
    }
  }
  return word;
}

}  // namespace

// Any bytes, in each encoder: what comes out is safe in its sink, and where nothing is to be
// encoded it is the text.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  const std::string text(fuzz::text_of(data, size));
  const std::string line = terminal_text(text).str();
  fuzz::require(is_printable(line), "nothing that a terminal obeys");
  fuzz::require(terminal_text(line).str() == line, "encoded once is encoded");
  fuzz::require(is_printable(text) == (line == text), "printable text is unchanged");
  fuzz::require(unquoted(shell_quote(text)) == text, "a shell reads the word back");
  for (const std::string& one : {csv_field(text), markdown_text(text), html_text(text)})
    fuzz::require(is_printable(one), "documents have nothing that a terminal obeys");
  const std::string field = csv_field(text);
  const char first = field.size() > 1 && field[0] == '"' ? field[1]
                     : field.empty()                     ? ' '
                                                         : field[0];
  fuzz::require(std::string("=+-@").find(first) == std::string::npos, "no formula");
  const std::string html = html_text(text);
  fuzz::require(html.find_first_of("<>\"'") == std::string::npos, "no tag, no end of an attribute");
  const std::string yaml = yaml_scalar(text);
  fuzz::require(yaml.find('\n') == std::string::npos, "a scalar is one line");
  return 0;
}
