#include "record/display_text.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace hpcboot::record {
namespace {

TEST(DisplayText, WidthsAreThoseOfATerminal) {
  const std::pair<const char*, std::size_t> cases[] = {
      {"", 0},      {"abc", 3},   {"–", 1},       {"Größe", 5}, {"Gro\u0308ße", 5},
      {"日本", 4},  {"🚀", 2},     {"e\u200D", 1}, {"\xff", 1},  {"\xe2\x80", 2},
      {"\xc3(", 2}, {"\xf9x", 2}, {"\u3000x", 3},
  };
  for (const auto& [text, width] : cases) EXPECT_EQ(display_width(text), width) << text;
}

TEST(DisplayText, ControlCharactersBecomeSpaces) {
  EXPECT_EQ(printable("a\nb\x1b[31mc\x7f"), "a b [31mc ");
  EXPECT_EQ(printable("Größe – 日本"), "Größe – 日本");
  EXPECT_EQ(printable("a\u009Bb"), "a b");  // a C1 control: as good as ESC [
  EXPECT_EQ(printable("\xff"), "\xff");
}

}  // namespace
}  // namespace hpcboot::record
