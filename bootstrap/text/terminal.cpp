#include "text/terminal.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <iostream>

namespace hpcboot {

Encoded terminal_lines(std::string_view text) {
  Encoded lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += terminal_text(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Terminal& Terminal::write(std::string_view text) {
  line_ += text;
  if (!line_.empty() && line_.back() == '\n') {
    *stream_ << line_;
    line_.clear();
  }
  return *this;
}

Terminal& Terminal::flush() {
  *stream_ << line_;
  line_.clear();
  stream_->flush();
  return *this;
}

bool Terminal::is_good() {
  flush();
  return stream_->good();
}

Terminal& out() {
  thread_local Terminal terminal(std::cout);
  return terminal;
}

Terminal& err() {
  thread_local Terminal terminal(std::cerr);
  return terminal;
}

CapturedOutput::CapturedOutput() : before_(out().flush().stream_) {
  out().stream_ = &text_;
}

CapturedOutput::~CapturedOutput() {
  out().flush().stream_ = before_;
}

std::string CapturedOutput::text() const {
  out().flush();
  return text_.str();
}

void print_error(std::string_view program, const Error& error) {
  err() << Encoded::as_is(format_error(program, error));
}

int terminal_columns(int descriptor, int otherwise) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

int terminal_rows(int descriptor, int otherwise) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : otherwise;
}

int redrawn_columns(int descriptor) {
  return std::max(1, terminal_columns(descriptor, 80) - 1);
}

}  // namespace hpcboot
