#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "core/launchers/shipped.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/launch_source.hpp"
#include "hpcboot/scheduler.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

// bootstrap/README.md is the reference for launchers: its tables must match the code.
namespace hpcboot {
namespace {

using Row = std::vector<std::string>;

// The cells of each table row, trimmed and without backquotes.
std::vector<Row> table_after(const std::string& heading) {
  const std::string text = test::read_text(test::source_file("bootstrap/README.md"));
  const std::size_t begin = text.find("\n## " + heading + "\n");
  EXPECT_NE(begin, std::string::npos) << heading;
  std::istringstream lines(text.substr(begin + 1));
  std::vector<Row> rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() != '|') {
      if (!rows.empty()) break;
      continue;
    }
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) {
      cell.erase(std::remove(cell.begin(), cell.end(), '`'), cell.end());
      const std::size_t first = std::min(cell.find_first_not_of(' '), cell.size());
      row.push_back(cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
    }
    rows.push_back(row);
  }
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

TEST(BootstrapReadme, PrecedenceIsTheCodes) {
  if (kShippedLaunchers.empty()) GTEST_SKIP() << "this build lacks the described launchers";
  std::vector<Row> expected;
  for (const LaunchSource* source : launch_sources()) {
    expected.push_back({std::string(source->name), std::string(name_of(source->level)),
                        std::string(source->why_here)});
  }
  expected.push_back({"single", "", "no launcher placed this process"});
  EXPECT_EQ(table_after("Precedence"), expected);
}

TEST(BootstrapReadme, LevelsNeverRise) {
  for (std::size_t i = 1; i < launch_sources().size(); ++i)
    EXPECT_LE(launch_sources()[i - 1]->level, launch_sources()[i]->level) << i;
}

std::string names_of(const LaunchSource& source, VariableUse use) {
  std::string names;
  for (const LaunchVariable& variable : source.variables) {
    if (variable.use == use) names.append(names.empty() ? "" : " ").append(variable.name);
  }
  return names;
}

TEST(BootstrapReadme, VariablesAreTheCodes) {
  if (kShippedLaunchers.empty()) GTEST_SKIP() << "this build lacks the described launchers";
  std::vector<Row> expected;
  for (const LaunchSource* source : launch_sources()) {
    expected.push_back({std::string(source->name), names_of(*source, VariableUse::required),
                        names_of(*source, VariableUse::used), std::string(source->cannot_know)});
  }
  EXPECT_EQ(table_after("Variables by launcher"), expected);
}

// Words of a cell in capitals are variables.
std::vector<std::string> variables_in(const std::string& cell) {
  std::vector<std::string> names;
  std::istringstream words(cell);
  for (std::string word; words >> word;) {
    word.erase(std::remove_if(word.begin(), word.end(),
                              [](char c) { return std::strchr("(),;.", c) != nullptr; }),
               word.end());
    const bool is_name = word.find('_') != std::string::npos &&
                         word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos;
    if (is_name) names.push_back(word);
  }
  return names;
}

TEST(BootstrapReadme, AllocationsAreTheSchedulers) {
  std::set<std::string> listed;
  int count = 0;
  for (const Row& row : table_after("Allocations")) {
    const std::string scheduler_name = row[0].substr(0, row[0].find(' '));
    listed.insert(scheduler_name);
    const Scheduler* scheduler = find_scheduler(scheduler_name);
    ASSERT_NE(scheduler, nullptr) << row[0];
    for (const std::string& cell : row) {
      for (const std::string& name : variables_in(cell)) {
        EXPECT_NE(scheduler->variables.find(name), nullptr) << name << " of " << row[0];
        ++count;
      }
    }
  }
  EXPECT_GE(count, 15);
  for (const Scheduler* scheduler : schedulers())
    EXPECT_EQ(listed.count(std::string(scheduler->name)), 1U) << scheduler->name;
  EXPECT_EQ(listed.size(), schedulers().size());
}

TEST(BootstrapReadme, EveryErrorCodeIsListed) {
  std::map<std::string, std::string> listed;
  for (const Row& row : table_after("Error codes")) listed[row[0]] = row[1];
  for (int number = 20; number < 64; ++number) {
    const std::string name(name_of(static_cast<ErrorCode>(number)));
    const auto found = listed.find(std::to_string(number));
    EXPECT_EQ(found == listed.end() ? "unknown" : found->second, name) << number;
  }
}

}  // namespace
}  // namespace hpcboot
