#include "hpcboot/encode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "hpcboot/error.hpp"
#include "text/display_width.hpp"
#include "text/format.hpp"
#include "text/table.hpp"
#include "text/terminal.hpp"
#include "text/wrap.hpp"

namespace hpcboot {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;

using Cases = std::vector<std::pair<std::string, std::string>>;

TEST(Encode, TerminalTextShowsWhatATerminalWouldObey) {
  const Cases cases = {
      {"plain text, C:\\path", "plain text, C:\\path"},
      {"Größe – 日本 🚀", "Größe – 日本 🚀"},
      {"a\nb\r\tc", "a\\nb\\r\\tc"},
      {"\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"},
      {"a\0b"s, "a\\x00b"},
      {"\x7f", "\\x7f"},
      {"\u009b31m", "\\u{9b}31m"},            // CSI as C1
      {"\u202egpj.exe", "\\u{202e}gpj.exe"},  // right to left
      {"\u2066a\u2069", "\\u{2066}a\\u{2069}"},
      {"a\u2028b\ufeff", "a\\u{2028}b\\u{feff}"},
      {"\U000e0041", "\\u{e0041}"},  // a tag
      {"a\u00adb\u034fc", "a\\u{ad}b\\u{34f}c"},
      {"\u180e\u115f\u3164\uffa0", "\\u{180e}\\u{115f}\\u{3164}\\u{ffa0}"},  // blank letters
      {"\u200b\u2060\u206a\ufff9", "\\u{200b}\\u{2060}\\u{206a}\\u{fff9}"},
      {"\U0001d173\U000e01f0", "\\u{1d173}\\u{e01f0}"},
      {"\xff\xc0\x9b", "\\xff\\xc0\\x9b"},  // not UTF-8; the last two are an overlong ESC-like form
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},  // a surrogate
      {"\xe2\x80", "\\xe2\\x80"},           // cut short
      {"👩\u200d💻", "👩\u200d💻"},
      {"❤\ufe0f 葛\U000e0100 \u0601", "❤\ufe0f 葛\U000e0100 \u0601"},
  };
  for (const auto& [text, shown] : cases) {
    EXPECT_EQ(terminal_text(text).str(), shown);
    EXPECT_EQ(is_printable(text), text == shown) << shown;
  }
}

TEST(Encode, NoByteSequenceGivesATerminalAControl) {
  // Every byte after every byte, and each within a text.
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text = {'x', static_cast<char>(a), static_cast<char>(b), 'y'};
      for (const char c : terminal_text(text).str()) {
        ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << a << ' ' << b;
      }
      ASSERT_TRUE(is_printable(terminal_text(text).str())) << a << ' ' << b;
    }
  }
}

TEST(Encode, CsvFieldsAreNoFormulasAndEndNoLine) {
  const Cases cases = {{"plain", "plain"},
                       {"", ""},
                       {"a,b", "\"a,b\""},
                       {"say \"x\"", "\"say \"\"x\"\"\""},
                       {"=1+1", "'=1+1"},
                       {"+1", "'+1"},
                       {"-x", "'-x"},
                       {"@SUM(A1)", "'@SUM(A1)"},
                       {"=A1,B1", "\"'=A1,B1\""},
                       {"a\nb", "a\\nb"},
                       {"\x1b[2J", "\\x1b[2J"},
                       {"\t=1", "\\t=1"},
                       {"a=b", "a=b"},
                       {"a;=1;-2", "a;'=1;'-2"},
                       {"\uff1d1", "'\uff1d1"}};
  for (const auto& [text, field] : cases) EXPECT_EQ(csv_field(text), field);
}

TEST(Encode, MarkdownMakesNothingOfIt) {
  const Cases cases = {
      {"20261120_ddp_2x2_a-b", "20261120_ddp_2x2_a-b"},
      {"a|b", "a\\|b"},
      {"a\\|b", "a\\\\\\|b"},
      {"[x](http://a.b)", "\\[x\\](http\\://a.b)"},
      {"![x](y)", "!\\[x\\](y)"},
      {"<img src=x>", "\\<img src=x>"},
      {"> a > b", "\\> a > b"},
      {"https://a.b", "https\\://a.b"},
      {"WWW.a.b", "WWW\\.a.b"},
      {"me@a.b", "me<!-- -->@a.b"},
      {"`x` *y* ~z~ &amp;", "\\`x\\` \\*y\\* \\~z\\~ \\&amp;"},
      {"_x_ y_z", "\\_x\\_ y_z"},
      {"# a", "\\# a"},
      {"- a", "\\- a"},
      {"a\nb\x1b", "a\\\\nb\\\\x1b"},
  };
  for (const auto& [text, escaped] : cases) EXPECT_EQ(markdown_text(text), escaped);
}

TEST(Encode, HtmlHasNoTagsAndNoAttributesOfIt) {
  EXPECT_EQ(html_text("<b a='1' b=\"2\">&\n"), "&lt;b a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;\\n");
}

TEST(Encode, ShellWordsAreOneWord) {
  const Cases cases = {{"plain-1.2:3", "plain-1.2:3"},
                       {"a=b", "a=b"},
                       {"=eth0", "'=eth0'"},  // zsh would search for a program eth0
                       {"", "''"},
                       {"a b", "'a b'"},
                       {"$(rm x) `y` \"z\"", "'$(rm x) `y` \"z\"'"},
                       {"it's", "'it'\\''s'"},
                       {"~root", "'~root'"},
                       {"a\nb", "'a\nb'"}};
  for (const auto& [word, quoted] : cases) EXPECT_EQ(shell_quote(word), quoted);
}

TEST(Encode, AWordForBashIsOneVisibleLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain", "plain"},
      {"it's", "'it'\\''s'"},
      {"\xc3\xa9t\xc3\xa9 a", "'\xc3\xa9t\xc3\xa9 a'"},
      {"a\n#$ -pe x 9", "$'a\\n#$ -pe x 9'"},
      {"\x1b[31m'\\", "$'\\x1b[31m\\'\\\\'"},
      {"\xe2\x80\xae\xff\xc3\xa9", "$'\\xe2\\x80\\xae\\xff\xc3\xa9'"},
      {std::string("a\rb\tc"), "$'a\\rb\\tc'"}};
  for (const auto& [word, quoted] : cases) EXPECT_EQ(bash_quote(word), quoted);
}

TEST(Encode, YamlScalarsAreTexts) {
  const Cases cases = {{"a/b.c-1", "a/b.c-1"},
                       {"", "\"\""},
                       {"12", "\"12\""},
                       {"true", "\"true\""},
                       {"No", "\"No\""},
                       {"a: b", "\"a: b\""},
                       {"a\"b\\", "\"a\\\"b\\\\\""},
                       {"a\nb\x1b\x7f", "\"a\\x0Ab\\x1B\\x7F\""},
                       {"Größe 日本", "\"Größe 日本\""},
                       {"x\u009b2J\u0085", "\"x\\x9B2J\\x85\""},  // CSI and a line break
                       {"a\u2028b\u202e", "\"a\\u2028b\\u202E\""},
                       {"\U000e0041", "\"\\U000E0041\""},
                       {"\uffff", "\"\\uFFFF\""},  // which YAML does not allow
                       {"a\xff\xc3", "\"a\uFFFD\uFFFD\""}};
  for (const auto& [text, scalar] : cases) EXPECT_EQ(yaml_scalar(text), scalar);
}

TEST(Encode, AnErrorHasThreeLinesWhateverItsPartsAre) {
  const Error error(ErrorCode::malformed_value, "X='\x1b[2J\nfound: nothing'", "a\rb", "c\u009b");
  EXPECT_EQ(format_error("hpcboot", error),
            "hpcboot: error 20 (malformed_value)\n"
            "  found:    X='\\x1b[2J\\nfound: nothing'\n"
            "  expected: a\\rb\n"
            "  do:       c\\u{9b}\n");
}

TEST(Encode, LiteralsPassAndAllElseIsEncoded) {
  std::ostringstream stream;
  Terminal terminal(stream);
  const std::string outside = "a\x1b\nb";
  terminal << "\x1b[K" << outside << std::string_view(outside) << outside.c_str() << ' ' << 42
           << '\x1b' << terminal_text(outside);
  EXPECT_EQ(stream.str(), "") << "a line is written in one piece";
  terminal << "\n";
  EXPECT_EQ(stream.str(), "\x1b[Ka\\x1b\\nba\\x1b\\nba\\x1b\\nb 42\\x1ba\\x1b\\nb\n");
  EXPECT_EQ(encoded_format("{:>6}|{}\n", std::string("\x1b"), 1).str(), "  \\x1b|1\n");
  EXPECT_EQ(encoded_format("{}", "a\n").str(), "a\\n");
  EXPECT_EQ(terminal_lines("a\x1b\n\nb").str(), "a\\x1b\n\nb\n");
}

TEST(Encode, TablesAlignWhatIsShown) {
  TextTable table({Align::left, Align::right, Align::left});
  table.add({"host", "n", "note"});
  table.add({"n1\x1b", "12", "日本"});
  table.add({"日本", "3", "x\ny"});
  EXPECT_EQ(table.text().str(),
            "host     n  note\n"
            "n1\\x1b  12  日本\n"
            "日本     3  x\\ny\n");
}

TEST(Encode, ATableIsNotAsWideAsItsLongestCellInEveryRow) {
  TextTable table({Align::left, Align::right, Align::left});
  const std::string longest(255, 'x');
  table.add({longest, "1", "a"});
  for (int i = 0; i < 1000; ++i) table.add({"x", "2", "b"});
  table.add({std::string(100'000, 'y'), "3", "c"});
  EXPECT_EQ(table.width(), 255U + 2 + 1 + 2 + 1);
  const std::string text = table.text().str();
  EXPECT_EQ(text.substr(0, 262), longest + "  1  a\n");
  EXPECT_EQ(text.substr(262, 262), "x" + std::string(254, ' ') + "  2  b\n");
  EXPECT_EQ(text.substr(262 * 1001), std::string(100'000, 'y') + "  3  c\n");
}

TEST(Encode, ATableStacksItsTitlesIfItIsTooWide) {
  TextTable table({Align::right, Align::left, Align::right});
  table.add_titles({"local_rank", "host", "Devices/node"});
  table.add({"0", "n1", "4"});
  EXPECT_EQ(table.width(), 30U);
  EXPECT_EQ(table.text({30, false}).str(),
            "local_rank  host  Devices/node\n"
            "         0  n1               4\n");
  EXPECT_EQ(table.text({29, false}).str(),
            "local_        Devices/\n"
            "  rank  host      node\n"
            "     0  n1           4\n");
}

TEST(Encode, ATableWrapsItsLastColumnOrPutsItBelowTheRows) {
  TextTable table({Align::left, Align::left});
  table.add_titles({"name", "meaning"});
  table.add({"a", "some words that have a long way to go"});
  table.add({"b", ""});
  EXPECT_EQ(table.text({30, false}).str(),
            "name  meaning\n"
            "a     some words that have a\n"
            "      long way to go\n"
            "b\n");
  // Twenty columns are the fewest for a text beside others.
  EXPECT_EQ(table.text({26, false}).str(),
            "name  meaning\n"
            "a     some words that have\n"
            "      a long way to go\n"
            "b\n");
  EXPECT_EQ(table.text({25, false}).str().substr(0, 7), "name\na\n");
  EXPECT_EQ(table.text({24, false}).str(),
            "name\n"
            "a\n"
            "    some words that have\n"
            "    a long way to go\n"
            "b\n");
}

TEST(Encode, AWrappedLineCountsItsBlanks) {
  EXPECT_THAT(wrapped("a b", 3), ElementsAre("a b"));
  EXPECT_THAT(wrapped("a b", 2), ElementsAre("a", "b"));
  EXPECT_THAT(wrapped(" a b", 4), ElementsAre(" a b"));
  EXPECT_THAT(wrapped("a b ", 4), ElementsAre("a b "));
  EXPECT_THAT(wrapped(" a b", 3), ElementsAre(" a", "b"));
  EXPECT_THAT(wrapped("a\n\n b c", 2), ElementsAre("a", "", " b", "c"));
}

TEST(Encode, ATableIsColouredOnlyIfTheTerminalIs) {
  TextTable table({Align::left, Align::left});
  table.add({"a", "b"}, {Style::red});
  EXPECT_EQ(table.text({80, true}).str(), "\x1b[31ma\x1b[0m  b\n");
  EXPECT_EQ(table.text({80, false}).str(), "a  b\n");
}

TEST(Encode, WidthsAreThoseOfATerminal) {
  const std::pair<const char*, std::size_t> cases[] = {
      {"", 0},      {"abc", 3},   {"–", 1},       {"Größe", 5}, {"Gro\u0308ße", 5},
      {"日本", 4},  {"🚀", 2},     {"e\u200D", 1}, {"\xff", 1},  {"\xe2\x80", 2},
      {"\xc3(", 2}, {"\xf9x", 2}, {"\u3000x", 3},
  };
  for (const auto& [text, width] : cases) EXPECT_EQ(display_width(text), width) << text;
}

TEST(Encode, ACutTextFitsItsScreenAndEndsItsStyles) {
  const auto cut = [](const char* text, std::size_t columns, std::size_t rows) {
    return cut_to_screen(Encoded::as_is(text), columns, rows).str();
  };
  EXPECT_EQ(cut("", 3, 2), "");
  EXPECT_EQ(cut("abc\n\nd", 3, 3), "abc\n\nd\n");
  EXPECT_EQ(cut("abcd\nGröße\n日本語\n", 4, 3), "abcd\nGrö…\n日…\n");
  EXPECT_EQ(cut("a\nb\nc\n", 5, 2), "a\nb …\n");
  EXPECT_EQ(cut("a\nbbbbb\nc\n", 5, 2), "a\nbbbb…\n");
  EXPECT_EQ(cut("a\nb\n", 1, 1), "…\n");
  EXPECT_EQ(cut("\x1b[1mabc\x1b[0m\n", 3, 1), "\x1b[1mabc\x1b[0m\n");
  EXPECT_EQ(cut("\x1b[1mabcd\x1b[0m ef\n", 3, 1), "\x1b[1mab…\x1b[0m\n");
  EXPECT_EQ(cut("\x1b[1mab\x1b[0m\x1b[33mcd\x1b[0m\n", 3, 1), "\x1b[1mab\x1b[0m\x1b[33m…\x1b[0m\n");
  EXPECT_EQ(cut("\x1b[1ma\x1b[0m\nb\n", 3, 1), "\x1b[1ma\x1b[0m …\n");
  EXPECT_EQ(cut("a\x1b[1", 3, 1), "a\x1b[1\n");
}

TEST(Encode, ACutTextFitsItsColumns) {
  EXPECT_EQ(cut_to_width("", 1), "");
  EXPECT_EQ(cut_to_width("abc", 3), "abc");
  EXPECT_EQ(cut_to_width("abcd", 3), "ab…");
  EXPECT_EQ(cut_to_width("abcd", 1), "…");
  EXPECT_EQ(cut_to_width("Größe", 4), "Grö…");
  EXPECT_EQ(cut_to_width("Gro\u0308ße", 4), "Gro\u0308…");
  EXPECT_EQ(cut_to_width("abe\u0308", 3), "abe\u0308");
  EXPECT_EQ(cut_to_width("日本語", 5), "日本…");
  EXPECT_EQ(cut_to_width("日本語", 4), "日…");
  EXPECT_EQ(cut_to_width("\xff\xff\xff", 2), "\xff…");
}

TEST(Encode, ATextCutInTheMiddleHasWholeCharacters) {
  EXPECT_EQ(cut_in_the_middle("", 1), "");
  EXPECT_EQ(cut_in_the_middle("abcde", 5), "abcde");
  EXPECT_EQ(cut_in_the_middle("abcdef", 5), "ab…ef");
  EXPECT_EQ(cut_in_the_middle("abcdef", 4), "a…f");
  EXPECT_EQ(cut_in_the_middle("ab", 1), "…");
  EXPECT_EQ(cut_in_the_middle("ééééé", 5), "ééééé");
  EXPECT_EQ(cut_in_the_middle("éàüöäê", 5), "éà…äê");
  EXPECT_EQ(cut_in_the_middle("模型模型", 7), "模…型");
  EXPECT_EQ(cut_in_the_middle("模型模型", 6), "模…型");
  EXPECT_EQ(cut_in_the_middle("abcde\u0308f", 3), "a…f") << "without the mark of e";
  EXPECT_EQ(cut_in_the_middle("\xff\xff\xff\xff", 3), "\xff…\xff");
}

}  // namespace
}  // namespace hpcboot
