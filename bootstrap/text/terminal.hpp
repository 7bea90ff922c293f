#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {

/// terminal_text() of several lines from outside, such as what another program printed: the line
/// ends stay, and the last line gets one.
Encoded terminal_lines(std::string_view text);

/// Where a program's words go: the one way to standard output and standard error. A literal and an
/// Encoded are written as they are; any other text is taken as coming from outside, and
/// terminal_text() makes it safe. A line is written in one piece: launchers mix the output of
/// ranks.
class Terminal {
 public:
  explicit Terminal(std::ostream& stream) : stream_(&stream) {}

  template <std::size_t N>
  Terminal& operator<<(const char (&literal)[N]) {
    return write(std::string_view(literal, strnlen(literal, N)));
  }
  template <std::size_t N>
  Terminal& operator<<(char (&buffer)[N]) {  // no literal: what was written into it
    return *this << std::string_view(buffer);
  }
  Terminal& operator<<(const Encoded& text) { return write(text.str()); }
  Terminal& operator<<(const Error& error) = delete;  // print_error()
  template <typename T>
  Terminal& operator<<(const T& value) {
    if constexpr (std::is_same_v<T, char>) {
      return write(terminal_text(std::string_view(&value, 1)).str());
    } else if constexpr (std::is_arithmetic_v<T>) {
      static_assert(std::is_integral_v<T>, "encoded_format() says how many decimals are shown");
      return write(std::to_string(value));
    } else {
      return write(terminal_text(std::string_view(value)).str());
    }
  }

  /// Writes out what is there of a line, such as a progress bar.
  Terminal& flush();
  /// Whether all has been written so far.
  bool is_good();

 private:
  friend class CapturedOutput;
  Terminal& write(std::string_view text);

  std::ostream* stream_;
  std::string line_;  ///< not ended yet
};

/// Standard output, and standard error, which is unbuffered but for the line. Each thread has a
/// line of its own.
Terminal& out();
Terminal& err();

/// While it lives, what this thread writes to out() is kept here in place of standard output.
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

/// The error on standard error, as format_error() has it.
void print_error(std::string_view program, const Error& error);

/// How many columns the terminal on this descriptor has; `otherwise` where it is none.
int terminal_columns(int descriptor, int otherwise);

}  // namespace hpcboot
