#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "broken_scripts.hpp"
#include "jobs/lint/lint.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

// Whole scripts: NAME.job and NAME.expected, the output of `hpcboot lint`; none for a good script.
namespace hpcboot::lint {
namespace {

TEST(LintGolden, ScriptsGiveWhatIsExpected) {
  int good = 0;
  int bad = 0;
  std::set<std::string> rules_seen;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_file("tests/golden/lint"))) {
    if (entry.path().extension() != ".job") continue;
    const std::string name = entry.path().filename();
    std::string found;
    for (const Finding& finding : check_script(test::read_text(entry.path()))) {
      found += format_text(name, finding).str();
      rules_seen.insert(finding.rule);
    }
    auto expected = entry.path();
    expected.replace_extension(".expected");
    if (std::filesystem::exists(expected)) {
      ++bad;
      EXPECT_EQ(found, test::read_text(expected)) << name;
    } else {
      ++good;
      EXPECT_EQ(found, "") << name;
    }
  }
  EXPECT_GE(good, 5);
  EXPECT_GE(bad, 2);
  EXPECT_GE(rules_seen.size(), 15U);
}

// The full text of every finding, for review by a person.
TEST(LintGolden, WhatIsSaidOfBrokenScriptsIsWhatWasRead) {
  std::string said;
  for (const Broken& one : broken()) {
    for (const Finding& finding : check_script(one.script)) {
      if (finding.rule == one.rule) said += format_text(one.rule, finding).str();
    }
  }
  EXPECT_EQ(said, test::read_text(test::source_file("tests/golden/lint/every_rule.expected")));
}

}  // namespace
}  // namespace hpcboot::lint
