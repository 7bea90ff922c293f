#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/launchers/small_json.hpp"
#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"

namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;

const std::string kCluster =
    R"("cluster":{"chief":["c:2222"],"worker":["w0:2222","w1:2222"],"ps":["p:2222"],)"
    R"("evaluator":["e:2222"]})";

Resolution of(const std::string& config, const std::string& more = "") {
  return resolve(Env::parse("TF_CONFIG=" + config + "\n" + more), Facts{});
}

Resolution of_task(const std::string& cluster, const std::string& type, int index) {
  return of("{" + cluster + R"(,"task":{"type":")" + type + R"(","index":)" +
            std::to_string(index) + "}}");
}

TEST(TfConfig, ChiefAndWorkersAreTheWorld) {
  const Resolution chief = of_task(kCluster, "chief", 0);
  EXPECT_EQ(chief.launcher, "tf_config");
  EXPECT_EQ(chief.placement.rank, 0);
  EXPECT_EQ(chief.placement.world_size, 3);
  const Resolution worker = of_task(kCluster, "worker", 1);
  EXPECT_EQ(worker.placement.rank, 2);
  EXPECT_EQ(worker.placement.local_rank, 0);
  EXPECT_EQ(worker.placement.local_size, 1);
  EXPECT_EQ(worker.placement.node_rank, 2);
  EXPECT_EQ(worker.placement.num_nodes, 3);
  EXPECT_THAT(worker.hosts, ElementsAre("c", "w0", "w1"));
  EXPECT_EQ(worker.master_addr, "c");
  EXPECT_EQ(worker.master_port, std::nullopt);
}

TEST(TfConfig, WithoutAChiefWorker0Is) {
  const std::string cluster = R"("cluster":{"worker":["w0:1","w1:1"]})";
  EXPECT_EQ(of_task(cluster, "worker", 0).placement.rank, 0);
  EXPECT_EQ(of_task(cluster, "worker", 1).master_addr, "w0");
  EXPECT_EQ(of_task(R"("cluster":{"master":["m:1"],"worker":["w:1"]})", "worker", 0).placement.rank,
            1);
}

TEST(TfConfig, WorkersOfOneHostAreCountedThere) {
  const std::string cluster = R"("cluster":{"worker":["a:1","b:1","a:2"]})";
  const Resolution r = of_task(cluster, "worker", 2);
  EXPECT_EQ(r.placement.local_rank, 1);
  EXPECT_EQ(r.placement.local_size, 2);
  EXPECT_EQ(r.placement.node_rank, 0);
  EXPECT_EQ(r.placement.num_nodes, 2);
}

TEST(TfConfig, ServersAndEvaluatorsAreAlone) {
  for (const char* type : {"ps", "evaluator"}) {
    const Resolution r = of_task(kCluster, type, 0);
    EXPECT_EQ(r.launcher, "single") << type;
    EXPECT_EQ(r.placement.world_size, 1) << type;
  }
  EXPECT_EQ(of("{}").launcher, "single");
  EXPECT_EQ(of(R"({"environment":"cloud"})").launcher, "single");
}

TEST(TfConfig, AddressesOfIpv6LoseTheirBrackets) {
  const Resolution r = of(
      R"({"cluster":{"worker":["[fd00::1]:2222","[fd00::2]:2222"]},"task":{"type":"worker","index":1}})");
  EXPECT_THAT(r.hosts, ElementsAre("fd00::1", "fd00::2"));
  EXPECT_EQ(r.master_addr, "fd00::1");
}

TEST(TfConfig, WhoeverSaysMoreIsTaken) {
  const std::string config = "{" + kCluster + R"(,"task":{"type":"worker","index":0}})";
  EXPECT_EQ(of(config, "RANK=1\nWORLD_SIZE=2\nLOCAL_RANK=0\n").launcher, "generic");
}

TEST(TfConfig, WhatIsWrongIsNamed) {
  const auto wrong = [](const std::string& config, const std::string& what) {
    expect_error(
        ErrorCode::malformed_value, [&] { of(config); }, "TF_CONFIG", what);
  };
  wrong("{", "not JSON");
  wrong("[1,2]x", "not JSON");
  wrong("{" + kCluster + "}", "task is missing");
  wrong(R"({"task":{"type":"worker","index":0}})", "cluster is missing");
  wrong("{" + kCluster + R"(,"task":{"index":0}})", "task.type");
  wrong("{" + kCluster + R"(,"task":{"type":"worker"}})", "task.index");
  wrong("{" + kCluster + R"(,"task":{"type":"worker","index":-1}})", "task.index");
  wrong("{" + kCluster + R"(,"task":{"type":"worker","index":2}})", "out of range for its list");
  wrong("{" + kCluster + R"(,"task":{"type":"chief","index":1}})", "out of range for its list");
  wrong("{" + kCluster + R"(,"task":{"type":"king","index":0}})", "'king'");
  wrong(R"({"cluster":{"worker":"w"},"task":{"type":"worker","index":0}})", "not a list");
  wrong(R"({"cluster":{"worker":[3]},"task":{"type":"worker","index":0}})", "HOST:PORT");
  wrong(R"({"cluster":{"chief":["a:1","b:1"]},"task":{"type":"chief","index":0}})",
        "more than one chief");
}

TEST(SmallJson, ReadsWhatItIsFor) {
  const auto json =
      parse_small_json(R"( {"a" : [1, -2.5e3, "x\n\"\u0041\u00e9", true, null], "b": {}} )");
  ASSERT_TRUE(json);
  const SmallJson* list = json->find("a");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 5U);
  EXPECT_EQ(list->items[0].text, "1");
  EXPECT_EQ(list->items[1].text, "-2.5e3");
  EXPECT_EQ(list->items[2].text, "x\n\"A?");
  EXPECT_EQ(list->items[3].kind, SmallJson::Kind::boolean);
  EXPECT_EQ(list->items[4].kind, SmallJson::Kind::null);
  EXPECT_EQ(json->find("b")->kind, SmallJson::Kind::object);
  EXPECT_EQ(json->find("c"), nullptr);
}

TEST(SmallJson, RefusesTheRest) {
  for (const char* text : {"", "{", "[1,]", "{\"a\"}", "{\"a\":}", "\"a", "\"\\x\"", "\"\\u12\"",
                           "tru", "nul", "-", "1 2", "{\"a\":1,}", "'a'", "[\"a\tb\"]"}) {
    EXPECT_FALSE(parse_small_json(text)) << text;
  }
  EXPECT_TRUE(parse_small_json("[[[[[[[[1]]]]]]]]"));
  EXPECT_FALSE(parse_small_json("[[[[[[[[[1]]]]]]]]]"));
  EXPECT_FALSE(parse_small_json(std::string(1000000, '[')));
}

}  // namespace
}  // namespace hpcboot
