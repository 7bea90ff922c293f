#include "jobs/lint/shell_reader.hpp"

#include <gtest/gtest.h>

// The shell grammar that the linter supports: one line per command.
namespace hpcboot::lint {
namespace {

// "A=1 | srun | -n | 4"; variables in here-documents as "<NAME", in words as "$NAME" or "\"NAME".
std::string told(const Shell& shell) {
  std::string all;
  for (const Command& command : shell.commands) {
    std::string line = command.in_function ? "f: " : "";
    for (const auto* words : {&command.assignments, &command.words}) {
      for (const Word& word : *words) {
        line += (line.empty() || line.back() == ' ' ? "" : " | ") + word.text;
        for (const Expansion& e : word.expansions) line += (e.quoted ? " \"" : " $") + e.name;
      }
    }
    for (const Expansion& e : command.input) line += " <" + e.name;
    all += line + "\n";
  }
  return all;
}

struct Case {
  const char* script;
  const char* commands;
};

TEST(ShellReader, TellsCommandsAndTheirVariables) {
  const Case cases[] = {
      {"srun -n 4 ./a", "srun | -n | 4 | ./a\n"},
      {"a\tb \t c\r", "a | b | c\n"},
      {"a;b&&c||d|e&", "a\nb\nc\nd\ne\n"},
      {"A=1 B='x y' cmd # words\n# words\n", "A=1 | B=x y | cmd\n"},
      {"a b#c", "a | b#c\n"},
      {"a \\\n  b", "a | b\n"},
      {"a 'b c' \"d e\" f\\ g", "a | b c | d e | f g\n"},
      {"a $X \"$Y\" '$Z' \\$W \"\\$V\"", "a | $X $X | $Y \"Y | $Z | $W | $V\n"},
      {"a ${X} \"${Y:-z}\" ${#Z} ${A:-$B}",
       "a | ${X} $X | ${Y:-z} \"Y | ${#Z} $Z | ${A:-$B} $A $B\n"},
      {"a ${X%'}'} b", "a | ${X%'}'} $X | b\n"},
      {"a $((X + 1)) b", "a | $((X + 1)) $X | b\n"},
      {"((x = 1 << 3)); a", "a\n"},
      {"for ((i = 0; i < 1<<4; i++)); do a; done\nb", "for\na\nb\n"},
      {"for((i = 0; i < 4; i++)) do a; done", "for\na\n"},
      {"a $(b $X) c", "b | $X $X\na | $(b $X) | c\n"},
      {"a \"$(b \"c d\")\" e", "b | c d\na | $(b \"c d\") | e\n"},
      {"a `b $X` c", "b | $X $X\na | `b $X` | c\n"},
      {"a $'x\\'y' z", "a | x'y | z\n"},
      {"a >out 2>&1 <in &>all b", "a | b\n"},
      {"a 2 >x", "a | 2\n"},
      {"a `b 2>&1` \"`(c >d) 2>e`\" f", "b\nc\na | `b 2>&1` | `(c >d) 2>e` | f\n"},
      {"a <(b) >(c)", "b\nc\na\n"},
      {"a <<E x\n$Y\nE\nb", "a | x <Y\nb\n"},
      {"a <<'E'\n$Y\nE\nb", "a\nb\n"},
      {"a <<-E\n\t$Y\n\tE\nb", "a <Y\nb\n"},
      {"a <<E <<F\n$X\nE\n$Y\nF\nb", "a <X <Y\nb\n"},
      {"a <<E\n\\$X ${Y}\nE", "a <Y\n"},
      {"a <<$E\n$X\n$E\nb", "a <X\nb\n"},  // the delimiter is no variable
      {"a <<<\"$X\" b", "a | b <X\n"},
      {"if a; then b; elif c; then d; else e; fi", "a\nb\nc\nd\ne\n"},
      {"while a; do b; done", "a\nb\n"},
      {"! a", "a\n"},
      {"(a; b)", "a\nb\n"},
      {"x (a b)", "x\na | b\n"},
      {"{ a; b; }", "a\nb\n"},
      {"f() { a; }\nb", "f: a\nb\n"},
      {"f ()\n{\n  a\n}\nb", "f: a\nb\n"},
      {"function f { a; { b; } }\nc", "f: a\nf: b\nc\n"},
      {"case x in\n  a) b ;;\nesac", "case | x | in\na\nb\n"},
      {"A=(x $Y 'z')\nb", "A= x $Y z $Y\nb\n"},
      {"A=(x)=(y)\nb", "A= x= y\nb\n"},
      {"a 'unclosed", "a | unclosed\n"},
      {"", ""},
  };
  for (const Case& one : cases) EXPECT_EQ(told(read_shell(one.script)), one.commands) << one.script;
}

// Deeper ones are plain characters: the reader calls itself for each.
TEST(ShellReader, Reads64NestedSubstitutions) {
  const auto first_command = [](int depth) {
    std::string script;
    for (int i = 0; i < depth; ++i) script += "$(";
    const std::string all = told(read_shell(script + "a b)"));
    return all.substr(0, all.find('\n'));
  };
  EXPECT_EQ(first_command(64), "a | b");
  EXPECT_EQ(first_command(65), "$");
}

TEST(ShellReader, TellsWhatEachByteBelongsTo) {
  const std::string script = "a 'b' \"c\" # d\ne <<F\ng\nF\nh";
  const Shell shell = read_shell(script);
  std::string told;
  for (const Kind kind : shell.kinds) {
    told += kind == Kind::code            ? '.'
            : kind == Kind::single_quoted ? 's'
            : kind == Kind::double_quoted ? 'd'
            : kind == Kind::comment       ? 'c'
                                          : 'h';
  }
  // The newline after the comment is code.
  EXPECT_EQ(told, "..sss.ddd.ccc.......hhhh.");
}

}  // namespace
}  // namespace hpcboot::lint
