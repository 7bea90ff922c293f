#pragma once

#include <cstring>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

/// External text (variables, host and file names, records, captures, reports of peers) is untrusted
/// until it is encoded for its sink. There is one encoder for each sink, and only its output goes
/// there.
namespace hpcboot {

/// Text that is safe for its sink: the program's own literals, and the output of the encoders.
class Encoded {
 public:
  Encoded() = default;
  /// A literal. Implicit, so that literals and encoded text are used alike.
  template <std::size_t N>
  Encoded(const char (&literal)[N]) : text_(literal, strnlen(literal, N)) {}
  /// A buffer is not a literal: its content may be external.
  template <std::size_t N>
  Encoded(char (&buffer)[N]) = delete;
  /// For text assembled from encoded parts. Only the encoders and the writers of whole documents
  /// (JSON, tables, scripts) use it; `ctest -L lint` has the list of them.
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

/// One line for a terminal or a log. Characters that would end the line, control the terminal,
/// reorder the text or not be seen are made visible: `\n`, `\t`, `\x1b`, `\u{202e}`, and `\xff`
/// for a byte that is not UTF-8. All other text is unchanged, including backslashes. Control
/// characters are C0, DEL and C1 (ECMA-48); unseen characters are Unicode's formats, line
/// separators and default ignorables, but not joiners and variation selectors.
Encoded terminal_text(std::string_view text);

/// Whether terminal_text() leaves `text` as it is.
bool is_printable(std::string_view text);

/// A word quoted for a POSIX shell: unchanged if it contains no special characters, else in single
/// quotes. Not for unquoted command substitution, which a shell splits but does not unquote.
std::string shell_quote(std::string_view word);

/// The same for bash, on one line that a terminal shows as it is: a word that is_printable() would
/// not allow becomes $'a\nb\x1b'. For scripts: some schedulers read directives from any line.
std::string bash_quote(std::string_view word);

/// A field of a CSV file: quoted as in RFC 4180 if needed, control characters made visible, and an
/// apostrophe before text that a spreadsheet would take for a formula (= + - @ at the start; OWASP,
/// "CSV Injection"). For text only: numbers are written without it.
std::string csv_field(std::string_view text);

/// Text within a Markdown paragraph or table cell (CommonMark with GitHub's tables and autolinks):
/// shown literally, never as a link, image, HTML or emphasis.
std::string markdown_text(std::string_view text);

/// HTML text, between tags or in a quoted attribute.
std::string html_text(std::string_view text);

/// A YAML 1.2 scalar that reads back as this text: plain if that is safe, else in double quotes,
/// with an escape for each character that terminal_text() makes visible. A byte that is not UTF-8,
/// which YAML cannot represent, becomes U+FFFD.
std::string yaml_scalar(std::string_view text);

}  // namespace hpcboot
