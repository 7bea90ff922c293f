#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {

/// terminal_text() for several external lines, such as the output of another program: newlines are
/// kept, and one is added to the last line if it has none.
Encoded terminal_lines(std::string_view text);

/// The only way in which programs write to standard output and standard error. Literals and Encoded
/// are written unchanged; any other text is treated as external and made safe by terminal_text(). A
/// line is written in one piece, since launchers mix the output of ranks.
class Terminal {
 public:
  explicit Terminal(std::ostream& stream) : stream_(&stream) {}

  template <std::size_t N>
  Terminal& operator<<(const char (&literal)[N]) {
    return write(std::string_view(literal, strnlen(literal, N)));
  }
  template <std::size_t N>
  Terminal& operator<<(char (&buffer)[N]) {  // not a literal: its content is external
    return *this << std::string_view(buffer);
  }
  Terminal& operator<<(const Encoded& text) { return write(text.str()); }
  Terminal& operator<<(const Error& error) = delete;  // print_error()
  template <typename T>
  Terminal& operator<<(const T& value) {
    if constexpr (std::is_same_v<T, char>) {
      return write(terminal_text(std::string_view(&value, 1)).str());
    } else if constexpr (std::is_arithmetic_v<T>) {
      static_assert(std::is_integral_v<T>, "use encoded_format() to set the number of decimals");
      return write(std::to_string(value));
    } else {
      return write(terminal_text(std::string_view(value)).str());
    }
  }

  /// Writes an incomplete line, such as a progress bar.
  Terminal& flush();
  /// Whether everything so far has been written.
  bool is_good();

 private:
  friend class CapturedOutput;
  Terminal& write(std::string_view text);

  std::ostream* stream_;
  std::string line_;  ///< not complete yet
};

/// Standard output, and standard error, which is buffered only by line. Each thread has its own
/// line.
Terminal& out();
Terminal& err();

/// During its lifetime, what this thread writes to out() is kept here instead of going to standard
/// output.
class CapturedOutput {
 public:
  CapturedOutput();
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  std::string text() const;

 private:
  std::ostringstream text_;
  std::ostream* before_;
};

/// Prints the error on standard error, as formatted by format_error().
void print_error(std::string_view program, const Error& error);

/// The number of columns of the terminal on this descriptor; `otherwise` if it is not a terminal.
int terminal_columns(int descriptor, int otherwise);

/// The number of its lines; `otherwise` if it is not a terminal.
int terminal_rows(int descriptor, int otherwise);

/// The columns of a line that a program draws again at its place. One column stays free: on some
/// terminals, a line that fills the last column wraps, and what wraps is not drawn over.
int redrawn_columns(int descriptor);

}  // namespace hpcboot
