#include "hpcboot/env.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace hpcboot {
namespace {

using test::expect_error;

TEST(Env, ParsesADumpOfPrintenv) {
  const Env env = Env::parse("A=1\nEMPTY=\nWITH=a=b c\nB=2\r\n");
  EXPECT_EQ(env.text("A"), "1");
  EXPECT_EQ(env.raw("EMPTY"), "");
  EXPECT_FALSE(env.text("EMPTY"));
  EXPECT_FALSE(env.raw("MISSING"));
  EXPECT_EQ(env.text("WITH"), "a=b c");
  EXPECT_EQ(env.text("B"), "2");
}

TEST(Env, KeepsValuesOfSeveralLines) {
  const Env env = Env::parse("BASH_FUNC_module%%=() {  eval `x`\n}\nRANK=3\nTEXT=first\n second\n");
  EXPECT_EQ(env.text("BASH_FUNC_module%%"), "() {  eval `x`\n}");
  EXPECT_EQ(env.text("RANK"), "3");
  EXPECT_EQ(env.text("TEXT"), "first\n second");
}

TEST(Env, ParsesADumpSeparatedByZeros) {
  const std::string dump("A=1\nRANK=7\0RANK=3\0", 18);
  const Env env = Env::parse(dump);
  EXPECT_EQ(env.text("A"), "1\nRANK=7");
  EXPECT_EQ(env.text("RANK"), "3");
}

TEST(Env, IgnoresWhatIsNoVariable) {
  EXPECT_TRUE(Env::parse("").variables().empty());
  EXPECT_TRUE(Env::parse("no variables here\n9A=1\n=x\n").variables().empty());
}

TEST(Env, TakesACStringWithItsEndAndAByteOrderMark) {
  const std::string lines = "A=1\nRANK=1\n";
  EXPECT_EQ(Env::parse(std::string_view(lines.c_str(), lines.size() + 1)).text("RANK"), "1");
  EXPECT_EQ(Env::parse("\xEF\xBB\xBFRANK=1\n").text("RANK"), "1");
}

TEST(Env, AFileThatContradictsItselfIsAnError) {
  for (const std::string& dump :
       {std::string("RANK=0\nA=1\nRANK=1\n"), std::string("RANK=0\0RANK=1\0", 14),
        std::string("RANK=0\nRANK=0\nRANK=1\n"), std::string("RANK=\nRANK=1\n"),
        std::string("RANK=0\nRANK=0\nmore\n")}) {
    expect_error(
        ErrorCode::malformed_file, [&] { Env::parse(dump, "job.env"); }, "job.env: RANK", "env -0");
    EXPECT_TRUE(Env::parse(dump).has("RANK"));
  }
  EXPECT_EQ(Env::parse("A=1\nRANK=3\nA=1\n", "job.env").text("RANK"), "3");
  EXPECT_EQ(Env::parse("A=x\n y\nA=x\n y\n", "job.env").text("A"), "x\n y");
  // In a NUL-separated dump, a line of a value is not a variable.
  EXPECT_EQ(Env::parse(std::string_view("A=1\nRANK=7\0RANK=3\0", 18), "job.env").text("RANK"), "3");
  const std::string secret = "hunter2hunter2";
  try {
    Env::parse("KEY=" + secret + "\nKEY=2\n", "job.env");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find(secret), std::string::npos);
  }
}

TEST(Env, UnusualNamesAreNoPartOfAnotherValue) {
  for (const char* name :
       {"npm-config", "a.b", "npm_config_//registry.example.org/:_auth", "x:y"}) {
    const Env env = Env::parse("RANK=3\n" + std::string(name) + "=1\nSIZE=4\n");
    EXPECT_EQ(env.integer("RANK"), 3) << name;
    EXPECT_EQ(env.text(name), "1");
    EXPECT_EQ(Env::parse(env.dump()).text(name), "1");
  }
  // Lines of a value.
  for (const std::string line : {"--option=1", "/path=1", ":x=1", "MIIB/abc=", "a b=1", "abc+/d=="})
    EXPECT_EQ(Env::parse("A=x\n" + line + "\nB=2\n").text("A"), "x\n" + line);
}

TEST(Env, ADumpIsReadBack) {
  const std::map<std::string, std::string> tables[] = {
      {},
      {{"A", "1"}, {"EMPTY", ""}, {"LIST", "a=b, c"}},
      {{"A", "two\nRANK=7"}, {"B", "2"}},
      {{"ONE", "ends in a return\r"}},
      {{"ONE", "two\nRANK=7\n"}},
      {{"BASH_FUNC_f%%", "() {  echo\n}"}, {"LAST", "\n"}},
  };
  for (const auto& table : tables) {
    const Env env(table);
    EXPECT_EQ(Env::parse(env.dump()).variables(), env.variables());
  }
  EXPECT_EQ(Env({{"A", "1"}, {"B", ""}}).dump(), "A=1\nB=\n");
  EXPECT_EQ(Env({{"A", "1"}, {"NO NAME", "2"}}).dump(), "A=1\n");
}

TEST(Env, ReadsTheProcessEnvironment) {
  // PATH is in the environment of every test run.
  EXPECT_TRUE(Env::from_process().has("PATH"));
}

TEST(Env, IntegersAreParsedWhole) {
  const Env env = Env::parse("GOOD=42\nZERO=0\nEMPTY=\n");
  EXPECT_EQ(env.integer("GOOD"), 42);
  EXPECT_EQ(env.integer("ZERO"), 0);
  EXPECT_FALSE(env.integer("EMPTY"));
  EXPECT_FALSE(env.integer("MISSING"));
  expect_error(
      ErrorCode::malformed_value, [&] { env.integer("ZERO", 1); }, "ZERO='0'", "from 1");
  for (const char* bad : {"1x", "x", " 1", "1 ", "+1", "1.5", "-1", "0x10", "2147483648",
                          "99999999999999999999", "1e3"}) {
    const Env one(std::map<std::string, std::string>{{"V", bad}});
    expect_error(
        ErrorCode::malformed_value, [&] { one.integer("V"); }, "V='" + std::string(bad) + "'");
  }
}

TEST(Env, RequiredVariablesAreNamed) {
  const Env env = Env::parse("EMPTY=\n");
  for (const char* name : {"EMPTY", "MISSING"}) {
    expect_error(
        ErrorCode::missing_variable, [&] { env.require_integer(name, "srun"); }, name, "srun");
    expect_error(
        ErrorCode::missing_variable, [&] { env.require_text(name, "srun"); }, name, "srun");
  }
}

}  // namespace
}  // namespace hpcboot
