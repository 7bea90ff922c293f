#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "hpcboot/hostlist.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

// Random host lists in Slurm's grammar, expanded here and by `scontrol show hostnames`.
namespace hpcboot::hostlist {
namespace {

constexpr int kLists = 6000;
constexpr int kListsPerProcess = 200;
constexpr const char* kMark = "list-ends-here";

class RandomList {
 public:
  std::string operator()() {
    std::string list;
    for (int entries = number(1, 3); entries > 0; --entries) {
      if (!list.empty()) list += ',';
      list += entry();
    }
    return list;
  }

 private:
  int number(int low, int high) { return std::uniform_int_distribution(low, high)(engine_); }

  std::string padded(int value) {
    std::string digits = std::to_string(value);
    if (number(0, 2) == 0) digits.insert(0, static_cast<std::size_t>(number(0, 3)), '0');
    return digits;
  }

  std::string range() {
    const int low = number(0, 3) == 0 ? number(95, 1005) : number(0, 25);
    std::string text = padded(low);
    if (number(0, 1) == 1) text += "-" + padded(low + number(0, 12));
    return text;
  }

  std::string set() {
    std::string text = range();
    for (int more = number(0, 2); more > 0; --more) text += "," + range();
    return "[" + text + "]";
  }

  std::string name() {
    static constexpr const char* kNames[] = {"n", "gpu", "a-b", "rack1", "x86-64-n", "c_", "q0"};
    return kNames[number(0, 6)];
  }

  // A plain name, or one to three bracketed sets with text before each.
  std::string entry() {
    std::string text = name();
    if (number(0, 3) == 0) return text + padded(number(0, 2000));
    text += set();
    for (int more = number(0, 4) - 2; more > 0; --more) text += name() + set();
    return text;
  }

  std::mt19937 engine_{20250101};
};

class HostlistOracle : public testing::Test {
 protected:
  void SetUp() override {
    // scontrol requires a configuration; this is the smallest that it accepts.
    test::write_text(folder_.path() / "slurm.conf",
                     "ClusterName=test\nSlurmctldHost=localhost\nNodeName=localhost\n"
                     "PartitionName=p Nodes=localhost\n");
    const auto version = test::run_program({"scontrol", "--version"}, environment());
    if (!version || version->exit_code != 0) GTEST_SKIP() << "Slurm's scontrol is not installed";
  }

  std::vector<std::string> environment() const {
    return {"SLURM_CONF=" + (folder_.path() / "slurm.conf").string()};
  }

  test::TemporaryFolder folder_;
};

TEST_F(HostlistOracle, ExpandsAsScontrolDoes) {
  RandomList next;
  for (int done = 0; done < kLists; done += kListsPerProcess) {
    // Many lists at once: starting a process costs a hundred times as much as a list.
    std::vector<std::string> lists;
    std::string all;
    for (int i = 0; i < kListsPerProcess; ++i) {
      lists.push_back(next());
      all += lists.back() + "," + kMark + ",";
    }
    all.pop_back();
    const auto output = test::run_program({"scontrol", "show", "hostnames", all}, environment());
    ASSERT_TRUE(output);
    ASSERT_EQ(output->exit_code, 0) << all;
    std::istringstream lines(output->text);
    for (const std::string& list : lists) {
      std::vector<std::string> expected;
      std::string host;
      while (std::getline(lines, host) && host != kMark) expected.push_back(host);
      ASSERT_EQ(expand(list), expected) << list;
      ASSERT_EQ(count(list), expected.size()) << list;
      ASSERT_EQ(first(list), expected.front()) << list;
    }
  }
}

// Slurm expands the output of compress() to the same hosts.
TEST_F(HostlistOracle, ScontrolReadsWhatCompressWrites) {
  RandomList next;
  for (int i = 0; i < 100; ++i) {
    const std::vector<std::string> hosts = expand(next());
    const std::string list = compress(hosts);
    const auto output = test::run_program({"scontrol", "show", "hostnames", list}, environment());
    ASSERT_TRUE(output) << list;
    std::string expected;
    for (const std::string& host : hosts) expected += host + "\n";
    ASSERT_EQ(output->text, expected) << list;
  }
}

}  // namespace
}  // namespace hpcboot::hostlist
