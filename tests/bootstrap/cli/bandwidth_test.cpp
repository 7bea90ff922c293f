// check --bandwidth: which links it measures, what it says, and the measurement itself over TCP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <thread>

#include "cli/bandwidth_report.hpp"
#include "cli/link_speed.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::tool {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

TEST(Bandwidth, EveryPairOfAFewRanksIsMeasured) {
  EXPECT_EQ(links_to_measure({"a", "a", "b"}), (std::vector<RankPair>{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(links_to_measure(std::vector<std::string>(16, "a")).size(), 120U);
  EXPECT_TRUE(links_to_measure({"a"}).empty());
}

TEST(Bandwidth, OfManyRanksPairsOfHostsAndOnePairOnEachHost) {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < 24; ++rank) hosts.push_back("n" + std::to_string(rank / 8));
  EXPECT_EQ(links_to_measure(hosts),
            (std::vector<RankPair>{{0, 1}, {8, 9}, {16, 17}, {0, 8}, {0, 16}, {8, 16}}));
  // 100 hosts of one rank each: a ring, in which each host is measured twice.
  hosts.clear();
  for (int rank = 0; rank < 100; ++rank) hosts.push_back("n" + std::to_string(rank));
  const std::vector<RankPair> ring = links_to_measure(hosts);
  EXPECT_EQ(ring.size(), 100U);
  std::multiset<int> ranks;
  for (const auto& [a, b] : ring) {
    ranks.insert(a);
    ranks.insert(b);
  }
  for (int rank = 0; rank < 100; ++rank) EXPECT_EQ(ranks.count(rank), 2U);
}

std::vector<RankReport> reports_on(const std::vector<std::string>& hosts) {
  std::vector<RankReport> reports(hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    reports[i].host = hosts[i];
    reports[i].resolution.interface = "eth0";
  }
  return reports;
}

TEST(Bandwidth, TheSlowestLinkIsNamedWithWhatItMeans) {
  const std::vector<LinkResult> links{{{0, 1}, 4e9}, {{0, 2}, 400e6}, {{1, 2}, 0, "no route"}};
  const std::string text =
      bandwidth_text(links, reports_on({"n1", "n1", "n2"}), 1.1e9, {80, false}).str();
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("0     1  n1    n1    same host, TCP     4 GB/s\n"),
            HasSubstr("0     2  n1    n2    eth0             400 MB/s\n"),
            HasSubstr("1     2  n1    n2    eth0                    -\n"),
            HasSubstr("not measured: ranks 1 and 2: no route\n"),
            HasSubstr("slowest: rank 0 on n1 to rank 2 on n2 (eth0), 400 MB/s. Over it, a ring")));
  // 2 x 2 / 3 x 4.4 GB at 400 MB/s.
  EXPECT_NEAR(bandwidth_json(links, reports_on({"n1", "n1", "n2"}), 1.1e9)["seconds_a_step"], 14.67,
              0.01);
  // On two ranks, the 4.4 GB pass once each way.
  const Json two = bandwidth_json({{{0, 1}, 400e6}}, reports_on({"n1", "n2"}), 1.1e9);
  EXPECT_NEAR(two["seconds_a_step"], 11.0, 1e-9);
}

TEST(Bandwidth, GpusOfOneHostAreShownWithTheSlowestKindOfLink) {
  const gpu::GpuLink nvlink{gpu::LinkKind::nvlink, 18, true};
  const gpu::GpuLink pcie{gpu::LinkKind::across_sockets, 0, false};
  const std::vector<LinkResult> links{
      {{0, 1}, 4e9, "", nvlink}, {{1, 2}, 4e9, "", pcie}, {{2, 3}, 1e9}};
  const auto reports = reports_on({"n1", "n1", "n1", "n2"});
  const std::string text = bandwidth_text(links, reports, 1e6, {80, false}).str();
  EXPECT_THAT(text, AllOf(HasSubstr("bandwidth  GPUs\n"), HasSubstr("4 GB/s  NVLink x18\n"),
                          HasSubstr("4 GB/s  across sockets, no P2P\n"), HasSubstr("1 GB/s  -\n"),
                          HasSubstr("Slowest: those of rank 1 on\nn1 and rank 2, across sockets, "
                                    "no P2P. ")));
  const Json json = bandwidth_json(links, reports, 1e6);
  EXPECT_EQ(json["links"][0]["gpus"], "NVLink x18");
  EXPECT_TRUE(json["links"][2]["gpus"].is_null());
}

TEST(Bandwidth, ASharedGpuIsNoLink) {
  const std::vector<LinkResult> links{{{0, 1}, 4e9, "", gpu::GpuLink{}}};
  EXPECT_THAT(bandwidth_text(links, reports_on({"n1", "n1"}), 1e6, {80, false}).str(),
              testing::Not(HasSubstr("GPU")));
}

TEST(Bandwidth, WithoutALinkThatWorksNothingIsClaimed) {
  const std::vector<LinkResult> links{{{0, 1}, 0, "cut"}};
  EXPECT_THAT(bandwidth_text(links, reports_on({"a", "b"}), 1e6, {80, false}).str(),
              testing::Not(HasSubstr("slowest")));
  EXPECT_TRUE(bandwidth_json(links, reports_on({"a", "b"}), 1e6)["seconds_a_step"].is_null());
}

TEST(LinkSpeed, BytesPassInBothDirections) {
  LinkEnd end("127.0.0.1");
  bool served = false;
  std::thread other([&] { served = end.serve(seconds(5), Clock::now() + seconds(10)); });
  const double rate = measure_link(end.place(), end.token(), Clock::now() + seconds(10));
  other.join();
  EXPECT_TRUE(served);
  EXPECT_GT(rate, 1e6);
  EXPECT_LT(rate, 1e12);
}

TEST(LinkSpeed, AStrangerIsNotServedAndDoesNotHoldTheLink) {
  LinkEnd end("127.0.0.1");
  EXPECT_EQ(end.token().size(), 32U);
  const auto begin = Clock::now();
  bool served = true;
  std::thread other([&] { served = end.serve(seconds(5), Clock::now() + seconds(10)); });
  EXPECT_THROW(measure_link(end.place(), std::string(32, 'x'), Clock::now() + seconds(5)), Error);
  other.join();
  EXPECT_FALSE(served);
  // One that says nothing.
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(end.place().port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int silent = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(silent, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_FALSE(end.serve(seconds(5), Clock::now() + seconds(10)));
  ::close(silent);
  EXPECT_LT(Clock::now() - begin, seconds(8));
}

TEST(LinkSpeed, APeerThatIsGoneIsAnError) {
  rendezvous::Place place;
  std::string token;
  {
    const LinkEnd end("127.0.0.1");
    place = end.place();
    token = end.token();
  }
  EXPECT_THROW(measure_link(place, token, Clock::now() + seconds(2)), Error);
  EXPECT_THROW(LinkEnd("203.0.113.9"), Error);  // not an address of this host
}

}  // namespace
}  // namespace hpcboot::tool
