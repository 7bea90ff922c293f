// The program as users run it: what it writes to stdout and to stderr, and its exit code.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "json/bounded_json.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::record {
namespace {

using test::read_text;
using test::TemporaryFolder;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kGolden = test::source_file("tests/golden/runtable");
const std::string kRuntable = test::built_file("bin/runtable");

struct Result {
  int exit_code;
  std::string out;
  std::string err;
};

/// Runs `runtable ARGUMENTS` in `folder`.
Result runtable(const std::string& folder, const std::string& arguments) {
  const TemporaryFolder temporary;
  const std::string out = (temporary.path() / "out").string();
  const std::string err = (temporary.path() / "err").string();
  const std::string command =
      "cd '" + folder + "' && '" + kRuntable + "' " + arguments + " >'" + out + "' 2>'" + err + "'";
  const int status = std::system(command.c_str());
  return {WEXITSTATUS(status), read_text(out), read_text(err)};
}

TEST(RuntableProgram, PrintsTheGoldenTableInEveryFormat) {
  for (const std::string format : {"table", "md", "csv", "json", "html"}) {
    const Result result = runtable(kGolden, "--format " + format);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out, read_text(kGolden + "/expected." + format)) << format;
    EXPECT_EQ(result.err, read_text(kGolden + "/expected.stderr"));
  }
}

TEST(RuntableProgram, TheDefaultsAreRunsAndTable) {
  const Result result = runtable(kGolden, "");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, read_text(kGolden + "/expected.table"));
}

TEST(RuntableProgram, TakesRunFolders) {
  const Result result = runtable(kGolden,
                                 "--format=json runs/20261120_100000_single_1x1 "
                                 "runs/20261120_120000_ddp_1x2_1234/run.json");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_EQ(Json::parse(result.out).size(), 2U);
}

TEST(RuntableProgram, AnEmptyFolderIsNotAFailure) {
  const TemporaryFolder folder;
  const Result result = runtable(folder.path().string(), ". --format json");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "[]\n");
  EXPECT_EQ(result.err, "runtable: no runs yet; the trainer creates them\n");
}

TEST(RuntableProgram, OnlySkippedRunsAreAFailure) {
  const Result result = runtable(kGolden, "runs/20261120_150000_ddp_1x2_running");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("not finished"));
}

TEST(RuntableProgram, WrongUseAndMissingFoldersAreReported) {
  struct Case {
    const char* arguments;
    int exit_code;
    const char* err;
  };
  const Case cases[] = {
      {"--format xml", 2, "--format is 'xml'; expected table, md, csv, json or html"},
      {"--format", 2, "--format"},
      {"--form json", 2, "--form"},
      {"--nonsense", 2, "--nonsense"},
      {"missing", 27, "cannot read 'missing': No such file or directory"},
  };
  for (const Case& one : cases) {
    const Result result = runtable(kGolden, one.arguments);
    EXPECT_EQ(result.exit_code, one.exit_code) << one.arguments;
    EXPECT_THAT(result.out, IsEmpty()) << one.arguments;
    EXPECT_THAT(result.err, HasSubstr(one.err)) << one.arguments;
  }
}

TEST(RuntableProgram, WhatIsNoRegularFileIsNamed) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "r");
  const std::string fifo = (folder.path() / "r" / "run.json").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::pair<const char*, int> cases[] = {{"r", 1},
                                               {"r/run.json", 1},
                                               {"watch --once r", 27},
                                               {"watch --once .", 27},
                                               {"diff r r", 27}};
  for (const auto& [arguments, exit_code] : cases) {
    const Result result = runtable(folder.path().string(), arguments);
    EXPECT_EQ(result.exit_code, exit_code) << arguments;
    EXPECT_THAT(result.err, HasSubstr("r/run.json': it is not a regular file")) << arguments;
  }
}

TEST(RuntableProgram, AnEmptyOutputIsWrongUse) {
  const TemporaryFolder folder;
  for (const std::string verb :
       {"export --to csv", "export --to mlflow", "plot runtime", "report"}) {
    const Result result = runtable(folder.path().string(), verb + " -o '' '" + kGolden + "/runs'");
    EXPECT_EQ(result.exit_code, 2) << verb;
    EXPECT_THAT(result.out, IsEmpty()) << verb;
    EXPECT_THAT(result.err, HasSubstr("--output is ''; expected a path")) << verb;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << verb;
  }
}

TEST(RuntableProgram, HelpAndVersionGoToStdout) {
  const Result help = runtable(kGolden, "--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("--format"));
  EXPECT_THAT(help.out, HasSubstr("Exit codes:"));
  EXPECT_THAT(help.err, IsEmpty());
  const Result version = runtable(kGolden, "--version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.out, "runtable " HPCBOOT_VERSION "\n");
}

TEST(RuntableProgram, AFullDiskIsAFailure) {
  const std::string command = "'" + kRuntable + "' '" + kGolden + "/runs' >/dev/full 2>/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
}

}  // namespace
}  // namespace hpcboot::record
