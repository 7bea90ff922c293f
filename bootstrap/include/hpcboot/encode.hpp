#pragma once

#include <cstring>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

/// Text from outside (variables, host and file names, records, captures, what peers report) is
/// hostile until it is encoded for its sink. One encoder for each sink; where it goes nothing else
/// does.
namespace hpcboot {

/// Text that its sink may be given as it is: the program's own literals, and what the encoders
/// make of anything else.
class Encoded {
 public:
  Encoded() = default;
  /// A literal. Implicit, so that literals and encoded text read alike.
  template <std::size_t N>
  Encoded(const char (&literal)[N]) : text_(literal, strnlen(literal, N)) {}
  /// A buffer is no literal: whatever was written into it comes from somewhere.
  template <std::size_t N>
  Encoded(char (&buffer)[N]) = delete;
  /// For text that is put together from encoded parts: the encoders and the writers of whole
  /// documents (JSON, tables, scripts) alone use it, and `ctest -L lint` knows which they are.
  static Encoded as_is(std::string text) {
    Encoded encoded;
    encoded.text_ = std::move(text);
    return encoded;
  }

  const std::string& str() const& noexcept { return text_; }
  std::string str() && noexcept { return std::move(text_); }
  bool empty() const noexcept { return text_.empty(); }

  Encoded& operator+=(const Encoded& more) {
    text_ += more.text_;
    return *this;
  }
  friend Encoded operator+(Encoded left, const Encoded& right) { return std::move(left += right); }
  friend bool operator==(const Encoded& left, const Encoded& right) {
    return left.text_ == right.text_;
  }

 private:
  std::string text_;
};

std::ostream& operator<<(std::ostream& out, const Encoded& text);

/// One line of a terminal or a log. What would end the line, steer the terminal or reorder the text
/// is made visible: `\n`, `\t`, `\x1b`, `\u{202e}`, and `\xff` for a byte that is not UTF-8. All
/// other text is unchanged, a backslash too.
/// Controls are C0, DEL and C1 (ECMA-48); reordering ones those of Unicode's UAX #9, besides line
/// separators, zero-width spaces and tags.
Encoded terminal_text(std::string_view text);

/// Whether terminal_text() leaves `text` as it is.
bool is_printable(std::string_view text);

/// A word as a POSIX shell reads it back: unchanged where nothing in it is special, else in single
/// quotes. Not for the unquoted output of a command, which a shell splits but does not unquote.
std::string shell_quote(std::string_view word);

/// A field of a CSV file: RFC 4180's quotes where they are needed, controls made visible, and an
/// apostrophe before what a spreadsheet would take for a formula (= + - @ at the start; OWASP, "CSV
/// Injection"). For text: a number is written as it is.
std::string csv_field(std::string_view text);

/// Text within a paragraph or a table's cell of Markdown (CommonMark with GitHub's tables and
/// autolinks): shown as it is, with no link, image, HTML or emphasis made of it.
std::string markdown_text(std::string_view text);

/// Text between tags or in a quoted attribute of HTML.
std::string html_text(std::string_view text);

/// A scalar of YAML 1.2 that is read back as this text: plain where that is safe, else in double
/// quotes.
std::string yaml_scalar(std::string_view text);

}  // namespace hpcboot
