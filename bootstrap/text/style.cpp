#include "text/style.hpp"

#include <unistd.h>

#include <string>

#include "hpcboot/env.hpp"

namespace hpcboot {
namespace {

// ECMA-48, 8.3.117: Select Graphic Rendition.
const char* sequence_of(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::bold:
      return "\033[1m";
    case Style::red:
      return "\033[31m";
    case Style::green:
      return "\033[32m";
    case Style::yellow:
      return "\033[33m";
    case Style::blue:
      return "\033[34m";
  }
  return "";
}

}  // namespace

bool has_colour(int descriptor) {
  if (isatty(descriptor) != 1) return false;
  const Env env = Env::from_process();
  // Open MPI gives each rank a terminal of its own, wherever mpirun's output goes.
  if (env.has("PMIX_RANK")) return false;
  const auto terminal = env.text("TERM").value_or("dumb");
  return env.text("NO_COLOR").value_or("").empty() && terminal != "dumb";
}

Encoded styled(const Encoded& text, Style style, bool has_colour) {
  if (!has_colour || style == Style::plain) return text;
  return Encoded::as_is(sequence_of(style) + text.str() + "\033[0m");
}

}  // namespace hpcboot
