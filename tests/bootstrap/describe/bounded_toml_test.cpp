#include "toml/bounded_toml.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.hpp"

namespace hpcboot {
namespace {

// A dotted key of this many parts.
std::string key_of(std::size_t parts) {
  std::string key = "a";
  for (std::size_t i = 1; i < parts; ++i) key += ".a";
  return key;
}

// The line of a long key, from 1; 0 if none is found, whatever else is wrong.
int line_of_long_key(const std::string& toml) {
  try {
    parse_toml(toml, "f.toml");
  } catch (const Error& error) {
    const std::string& found = error.found();
    if (found.find(": a dotted key of more than 16 parts") != std::string::npos)
      return std::stoi(found.substr(found.find(':') + 1));
  }
  return 0;
}

TEST(BoundedToml, AKeyOfManyPartsIsFoundInItsLine) {
  const std::string longest = key_of(kMostKeyParts);
  const std::string longer = key_of(kMostKeyParts + 1);
  EXPECT_EQ(line_of_long_key(longest + " = 1\n" + longest + " = 1\n"), 0);
  EXPECT_EQ(line_of_long_key(longer + " = 1\n"), 1);
  EXPECT_EQ(line_of_long_key("x = 1\n[t]\n" + longer + " = 1\n"), 3);
  EXPECT_EQ(line_of_long_key("\n" + longer + " = 1\n"), 2);
  EXPECT_EQ(line_of_long_key("[" + longer + "]\n"), 1);
  EXPECT_EQ(line_of_long_key("x = {" + longer + " = 1}\n"), 1);
  for (const char* parted : {"=", ",", "{", "}", "[", "]", "\n"})
    EXPECT_EQ(line_of_long_key(longest + parted + longest), 0) << parted;
}

// Dots in strings and comments do not separate keys; what follows them is checked again.
TEST(BoundedToml, DotsInTextsAndCommentsPartNoKey) {
  const std::string longer = key_of(kMostKeyParts + 1);
  const std::string texts[] = {"\"" + longer + "\"",
                               "'" + longer + "'",
                               "\"\\\"" + longer + "\"",
                               "'\\'",
                               "\"\\\\\"",
                               "\"\"",
                               "''",
                               "\"\"\"" + longer + "\n" + longer + "\"\"\"",
                               "'''" + longer + "\n'''",
                               "\"\"\"\"x" + longer + "\"\"\"\"\"",
                               "\"\"\"\\\"\"\"" + longer + "\"\"\"",
                               "# " + longer,
                               "# \"",
                               "# '''"};
  for (const std::string& text : texts) {
    EXPECT_EQ(line_of_long_key("x = " + text + "\n"), 0) << text;
    EXPECT_NE(line_of_long_key("x = " + text + "\n" + longer + " = 1\n"), 0) << text;
  }
  // An escape has two characters.
  for (const char* text : {"\"\\\\\"", "\"\\t\"", "\"\"\"\\\\\"\"\""}) {
    EXPECT_EQ(line_of_long_key("x = {a = " + (text + (", " + longer)) + " = 1}\n"), 1) << text;
  }
  // An unclosed string ends at the end of its line or of the file.
  EXPECT_EQ(line_of_long_key("x = \"a\n" + longer), 2);
  EXPECT_EQ(line_of_long_key("x = \"\"\"a\n" + longer), 0);
  for (const char* open : {"\"", "'", "\"\"\"", "\"\\", "\"\"\"\\"})
    EXPECT_EQ(line_of_long_key(open), 0) << open;
}

// toml++ 3.3 assumes, unchecked, that a name follows the brackets.
TEST(BoundedToml, ATableWithoutANameIsNamedByItsLine) {
  for (const char* header :
       {"[=]", "[ .a]", "[\n]", "[[[a]]]", "[[ +]]", "[[\r\n", "[#", "[\t[ {}]]"}) {
    SCOPED_TRACE(header);
    test::expect_error(
        ErrorCode::malformed_file,
        [&] { parse_toml(std::string("x = [1]\n") + header + "\n", "f.toml"); },
        "f.toml:2: a table without a name");
  }
  for (const char* header : {"[a]", "[ 'a b' ]", "[[\"a\"]]", "[[ -1 ]]", "[_]", "[9.Z]"})
    EXPECT_EQ(parse_toml(std::string(header) + "\n", "f.toml").size(), 1U) << header;
  for (const char* broken : {"[", "[[", "[]", "[[]]", "[ [a]]", "a[=1"}) {
    test::expect_error(
        ErrorCode::malformed_file, [&] { parse_toml(broken, "f.toml"); }, "f.toml:1: ");
  }
}

// toml++ 3.3 assumes, unchecked, that no bracket or end follows where it looks for a value, and
// that it needs to look back by at most 127 characters.
TEST(BoundedToml, ValuesThatTomlppWouldReadBeyondTheirEndAreNamedByTheirLine) {
  const std::string long_value = "2020-01-0" + std::string(116, '_') + "1 1:";
  for (const std::string& value : {std::string("[}"), std::string("[1, }]"),
                                   std::string("2020-01-01 1"), std::string("[2020-01-01 1]"),
                                   std::string("2020-01-01 x"), std::string("1 1"), long_value}) {
    SCOPED_TRACE(value);
    test::expect_error(
        ErrorCode::malformed_file, [&] { parse_toml("y = 1\nx = " + value + "\n", "f.toml"); },
        "f.toml:2: ");
  }
  for (const char* value :
       {"2020-01-01", "2020-01-01 10:00:00", "2020-01-01T10:00:00Z", "10:00:00", "1_000", "true ",
        "[1, 2 , 3]", "{a = 1, b = [2]}", "1e3 # 1 1", "[\n  1,\n  2,\n]", "[{a = 1}, {a = 2}]",
        "0x1f", "-inf", "[ ]", "{ }"}) {
    EXPECT_EQ(parse_toml(std::string("x = ") + value + "\n", "f.toml").size(), 1U) << value;
  }
}

TEST(BoundedToml, WhatIsBeyondTheLimitsOrNoTomlIsNamedByItsLine) {
  test::expect_error(
      ErrorCode::malformed_file, [] { parse_toml("x = 1\n" + key_of(17) + " = 1\n", "f.toml"); },
      "f.toml:2: a dotted key of more than 16 parts");
  test::expect_error(
      ErrorCode::malformed_file, [] { parse_toml("x = 1\ny\n", "f.toml"); }, "f.toml:2: ");
  test::expect_error(
      ErrorCode::malformed_file, [] { parse_toml(std::string(kLongestToml + 1, '\n'), "f.toml"); },
      "f.toml:1: the file has 1048577 bytes");
  EXPECT_TRUE(parse_toml(std::string(kLongestToml, '\n'), "f.toml").empty());
  EXPECT_EQ(parse_toml(key_of(kMostKeyParts) + " = 1\n", "f.toml").size(), 1U);
}

}  // namespace
}  // namespace hpcboot
