#include "hpcboot/hostlist.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "support/expect_error.hpp"

namespace hpcboot::hostlist {
namespace {

using test::expect_error;
using testing::ElementsAre;

std::string joined(const std::vector<std::string>& hosts) {
  std::string text;
  for (const std::string& host : hosts) text += (text.empty() ? "" : " ") + host;
  return text;
}

struct Case {
  const char* expression;
  const char* hosts;
};

// The output of `scontrol show hostnames` of Slurm 22.05.8.
constexpr Case kAsSlurm[] = {
    {"n1", "n1"},
    {"n[1-3]", "n1 n2 n3"},
    {"n[9-11]", "n9 n10 n11"},
    {"n[098-102]", "n098 n099 n100 n101 n102"},
    {"n[01-3]", "n01 n02 n03"},
    {"n[08-12]", "n08 n09 n10 n11 n12"},
    {"n[8-012]", "n8 n9 n10 n11 n12"},
    {"n[0001-2]", "n0001 n0002"},
    {"n[1,3-4,007]", "n1 n3 n4 n007"},
    {"x[1,1,1]", "x1 x1 x1"},
    {"a,b a", "a b a"},
    {"a\tb\nc", "a b c"},
    {"a,,b", "a b"},
    {"n[1-2],", "n1 n2"},
    {",", ""},
    {"", ""},
    {"[1-3]", "1 2 3"},
    {"n[5]", "n5"},
    {"n[1-2]-ib[0-1]", "n1-ib0 n1-ib1 n2-ib0 n2-ib1"},
    {"n[1-2][3-4]", "n13 n14 n23 n24"},
    {"r[1-2]c[1-2]n[1-2]", "r1c1n1 r1c1n2 r2c1n1 r2c1n2 r1c2n1 r1c2n2 r2c2n1 r2c2n2"},
    {"a[1-2]b[1-2]c[1-2]d[1-2]",
     "a1b1c1d1 a1b1c1d2 a2b1c1d1 a2b1c1d2 a1b2c1d1 a1b2c1d2 a2b2c1d1 a2b2c1d2 "
     "a1b1c2d1 a1b1c2d2 a2b1c2d1 a2b1c2d2 a1b2c2d1 a1b2c2d2 a2b2c2d1 a2b2c2d2"},
    {"node-a[01-02].cluster[1-2]",
     "node-a01.cluster1 node-a01.cluster2 node-a02.cluster1 node-a02.cluster2"},
};

// Beyond Slurm's grammar.
constexpr Case kExtensions[] = {
    {"n[1-2]x", "n1x n2x"},
    {"n[9-10]-ib", "n9-ib n10-ib"},
    {"x[098-101].site.org,y", "x098.site.org x099.site.org x100.site.org x101.site.org y"},
};

TEST(Hostlist, ExpandsAsSlurmDoes) {
  for (const Case& c : kAsSlurm) EXPECT_EQ(joined(expand(c.expression)), c.hosts) << c.expression;
}

TEST(Hostlist, TakesTextAfterTheLastBracket) {
  for (const Case& c : kExtensions)
    EXPECT_EQ(joined(expand(c.expression)), c.hosts) << c.expression;
}

TEST(Hostlist, CountAndFirstAgreeWithExpand) {
  for (const auto& table : {std::vector<Case>(std::begin(kAsSlurm), std::end(kAsSlurm)),
                            std::vector<Case>(std::begin(kExtensions), std::end(kExtensions))}) {
    for (const Case& c : table) {
      const auto hosts = expand(c.expression);
      EXPECT_EQ(count(c.expression), hosts.size()) << c.expression;
      if (!hosts.empty()) {
        EXPECT_EQ(first(c.expression), hosts.front()) << c.expression;
      }
    }
  }
}

TEST(Hostlist, RefusesWhatIsNoList) {
  for (const char* bad : {"n[",
                          "n[1-",
                          "n]",
                          "n1]",
                          "n[]",
                          "n[1,]",
                          "n[,1]",
                          "n[3-1]",
                          "n[1--3]",
                          "n[1-2-3]",
                          "n[a-b]",
                          "n[-1]",
                          "n[1-2",
                          "a[1-2][[3]",
                          "a[[1]]",
                          "n[1 2]",
                          "n[99999999999999999999]",
                          "n[0-18446744073709551615]",
                          "a\x01z",
                          "n[ 1-2]"}) {
    expect_error(
        ErrorCode::malformed_hostlist, [&] { expand(bad); }, "host list entry");
    expect_error(
        ErrorCode::malformed_hostlist, [&] { count(bad); }, "host list entry");
    expect_error(
        ErrorCode::malformed_hostlist, [&] { first(bad); }, "host list entry");
  }
  expect_error(
      ErrorCode::malformed_hostlist, [] { first(" , "); }, "empty");
}

// Few letters of a list may mean gigabytes.
TEST(Hostlist, NamesAreNotOfAnyLength) {
  const std::string zeros(1023, '0');
  EXPECT_EQ(expand("n[" + zeros + "-1]").size(), 2U);
  for (const std::string& list :
       {"n[" + zeros + "0-1]", std::string(1025, 'n') + "[1-65536]", "n[1," + zeros + "2][1-9]"}) {
    expect_error(
        ErrorCode::malformed_hostlist, [&] { expand(list); }, "host names of ");
  }
}

TEST(Hostlist, OfBytesOnlyControlCharactersAreRefused) {
  const std::string syntax = ", \t\n\r[]";
  for (int byte = 1; byte < 256; ++byte) {
    const std::string host = {'n', static_cast<char>(byte), '1'};
    if (syntax.find(host[1]) != std::string::npos) continue;
    if (byte < 0x20 || byte == 0x7f) {
      EXPECT_THROW(expand(host), Error) << byte;
    } else {
      EXPECT_THAT(expand(host), ElementsAre(host)) << byte;
    }
  }
}

TEST(Hostlist, ExpansionIsCappedAndCountingIsNot) {
  EXPECT_EQ(expand("n[1-262144]").size(), 262144U);
  expect_error(
      ErrorCode::hostlist_too_large, [] { expand("n[1-262145]"); }, "262145");
  expect_error(
      ErrorCode::hostlist_too_large, [] { expand("a[1-1000]b[1-1000]"); }, "1000000");
  expect_error(ErrorCode::hostlist_too_large, [] { expand("a[1-200000],b[1-200000]"); });
  expect_error(
      ErrorCode::hostlist_too_large, [] { expand("a,b,c", 2); }, "at most 2");
  EXPECT_EQ(count("n[1-99999999999]"), 99999999999U);
  EXPECT_EQ(first("n[007-99999999999]"), "n007");
  expect_error(ErrorCode::hostlist_too_large, [] { count("a[1-9999999999]b[1-9999999999]"); });
}

TEST(Hostlist, Compresses) {
  EXPECT_EQ(compress({}), "");
  EXPECT_EQ(compress({"a"}), "a");
  EXPECT_EQ(compress({"n1"}), "n1");
  EXPECT_EQ(compress({"n1", "n2", "n3"}), "n[1-3]");
  EXPECT_EQ(compress({"n9", "n10", "n12", "a"}), "n[9-10,12],a");
  EXPECT_EQ(compress({"n09", "n10", "n011"}), "n[09-10,011]");
  EXPECT_EQ(compress({"n098", "n099", "n100"}), "n[098-100]");
  EXPECT_EQ(compress({"n3", "n2", "n1", "n1"}), "n[3,2,1,1]");
  EXPECT_EQ(compress({"r1n1", "r1n2", "r2n1"}), "r1n[1-2],r2n1");
  EXPECT_EQ(compress({"n1-ib", "n2-ib"}), "n[1-2]-ib");
  EXPECT_EQ(compress({"a", "b", "a"}), "a,b,a");
  EXPECT_EQ(compress({"n99999999999999999999999"}), "n99999999999999999999999");
}

// Random valid lists: a compressed list expands to the same hosts, in order.
TEST(Hostlist, CompressThenExpandGivesTheSameHosts) {
  std::mt19937 random(1234);
  const auto pick = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> hosts;
    const unsigned size = 1 + pick(12);
    for (unsigned i = 0; i < size; ++i) {
      std::string host = std::string(1, static_cast<char>('a' + pick(2)));
      std::string digits = std::to_string(95 + pick(12));
      if (pick(3) == 0) digits.insert(0, 1 + pick(2), '0');
      host += digits;
      if (pick(4) == 0) host += "-ib";
      if (pick(8) == 0) host = "login";
      hosts.push_back(host);
    }
    EXPECT_EQ(expand(compress(hosts)), hosts) << compress(hosts);
  }
}

TEST(Hostlist, ExpandsCounts) {
  EXPECT_THAT(expand_counts("4", "V"), ElementsAre(4));
  EXPECT_THAT(expand_counts("2(x3),1", "V"), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(expand_counts("12,16,8,4,8(x2)", "V"), ElementsAre(12, 16, 8, 4, 8, 8));
  for (const char* bad :
       {"", "x", "2(x)", "2(x0)", "2(3)", "2(x3", "2,,1", "-1", "2(x3)y", "99999999999"}) {
    expect_error(
        ErrorCode::malformed_value, [&] { expand_counts(bad, "SLURM_TASKS_PER_NODE"); },
        "SLURM_TASKS_PER_NODE");
  }
  expect_error(ErrorCode::hostlist_too_large, [] { expand_counts("1(x999999999)", "V"); });
}

}  // namespace
}  // namespace hpcboot::hostlist
