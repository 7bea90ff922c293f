#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "hpcboot/error.hpp"
#include "rendezvous/store/client.hpp"
#include "rendezvous/store/meeting_places.hpp"
#include "rendezvous/store/server.hpp"

namespace hpcboot::rendezvous {
namespace {

using namespace std::chrono_literals;

World a_world(std::uint32_t size) {
  return {"job 7", size, Secret("the secret of this launch, 32 by")};
}

std::vector<Place> some_local_places() {
  static std::atomic<int> count{0};
  return local_places("relay-test/" + std::to_string(getpid()) + "/" + std::to_string(++count));
}

// Rank 0 on one host; ranks 1 (which relays), 2 and 3 on another.
class RelayTo : public testing::Test {
 protected:
  std::unique_ptr<Client> direct(std::uint32_t rank) {
    return Client::connect({server_->place()}, {world_, rank}, Clock::now() + 5s);
  }
  std::unique_ptr<Client> through_relay(std::uint32_t rank) {
    return Client::connect({relay_->place()}, {of_host_, rank}, Clock::now() + 5s);
  }
  std::unique_ptr<Client> with_way_out(std::uint32_t rank) {
    auto client = through_relay(rank);
    // Nobody listens at the first place, so the client must keep the second.
    client->set_way_out({some_local_places().front(), server_->place()}, {world_, rank});
    return client;
  }
  static std::string get(Client& client, const std::string& key) {
    std::vector<std::string> values;
    std::vector<std::string> missing;
    EXPECT_TRUE(client.get({key}, Clock::now() + 5s, values, missing));
    return values.empty() ? "" : values.front();
  }

  World world_ = a_world(4);
  World of_host_{"host/job 7", 4, {}, SecretKind::kernel};
  std::unique_ptr<Server> server_ = Server::start({"127.0.0.1", 0}, world_);
  std::unique_ptr<Client> first_ = direct(1);
  std::unique_ptr<Server> relay_ =
      Server::start_relay(some_local_places(), of_host_, first_->open_link(Clock::now() + 5s));
};

TEST_F(RelayTo, ranks_of_a_host_share_a_connection) {
  const auto zero = direct(0);
  const auto two = through_relay(2);
  const auto three = through_relay(3);
  std::thread waiting([&] { EXPECT_EQ(get(*two, "from 0"), "a value"); });
  std::thread also_waiting([&] { EXPECT_EQ(get(*three, "from 0"), "a value"); });
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(three->add("n", 2), 2);
  zero->set("from 0", "a value");
  waiting.join();
  also_waiting.join();
  EXPECT_EQ(two->add("n", 1), 3);
  EXPECT_EQ(two->compare_set("k", "", "first"), "first");
  EXPECT_EQ(get(*zero, "k"), "first");
}

TEST_F(RelayTo, carries_megabytes_for_many_at_once) {
  const std::string large(std::size_t{8} << 20U, 'x');
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 2; rank < 4; ++rank) {
    threads.emplace_back([&, rank] {
      const auto client = through_relay(rank);
      const std::string key = "large/" + std::to_string(rank);
      client->set(key, large);
      EXPECT_TRUE(get(*client, key) == large);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RelayTo, a_wait_whose_time_is_over_says_so) {
  std::vector<std::string> missing;
  EXPECT_FALSE(through_relay(2)->wait({"never"}, Clock::now() + 30ms, missing));
  EXPECT_EQ(missing, std::vector<std::string>{"never"});
}

TEST_F(RelayTo, one_rank_that_is_refused_harms_no_other) {
  const auto two = through_relay(2);
  const auto three = through_relay(3);
  two->set("text", "no number");
  EXPECT_THROW(two->add("text", 1), Error);
  EXPECT_EQ(three->add("n", 1), 1);
  EXPECT_EQ(two->add("n", 1), 2);
}

TEST_F(RelayTo, without_rank_0_its_ranks_know) {
  const auto two = through_relay(2);
  std::thread end([&] {
    std::this_thread::sleep_for(30ms);
    server_.reset();
  });
  std::vector<std::string> missing;
  try {
    two->wait({"never"}, Clock::now() + 20s, missing);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::peer_lost);
  }
  end.join();
}

TEST_F(RelayTo, the_last_answers_arrive_though_rank_0_ends) {
  const std::string large(std::size_t{20} << 20U, 'x');
  const auto zero = direct(0);
  const auto two = through_relay(2);
  std::vector<std::string> values;
  std::thread reading([&] {
    std::vector<std::string> missing;
    EXPECT_TRUE(two->get({"large"}, Clock::now() + 20s, values, missing));
  });
  std::this_thread::sleep_for(300ms);  // the other thread is waiting by then
  zero->set("large", large);
  server_.reset();
  reading.join();
  EXPECT_TRUE(values == std::vector{large});
}

TEST_F(RelayTo, a_link_that_lay_idle_when_the_relay_went_is_not_used) {
  const auto two = with_way_out(2);
  two->set("k", "v");
  relay_.reset();
  EXPECT_EQ(two->add("n", 1), 1);
  EXPECT_EQ(two->place().port, server_->place().port);
}

// Its ranks continue by themselves, including a wait, whose timeout keeps running.
TEST_F(RelayTo, without_the_relay_its_ranks_go_to_rank_0) {
  const auto two = with_way_out(2);
  two->set("k", "v");
  std::thread waiting([&] { EXPECT_EQ(get(*two, "later"), "came"); });
  std::thread late([&] {
    std::vector<std::string> missing;
    EXPECT_FALSE(two->wait({"never"}, Clock::now() + 5s, missing));
    EXPECT_EQ(missing, std::vector<std::string>{"never"});
  });
  std::this_thread::sleep_for(20ms);
  const auto began = Clock::now();
  relay_.reset();
  EXPECT_LT(Clock::now() - began, 4s);
  EXPECT_EQ(two->add("n", 1), 1);
  direct(0)->set("later", "came");
  waiting.join();
  late.join();
  EXPECT_EQ(two->place().port, server_->place().port);
}

TEST_F(RelayTo, stays_until_its_ranks_have_gone) {
  auto two = through_relay(2);
  std::thread last([&] {
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(two->add("n", 1), 1);
    two.reset();
  });
  relay_.reset();
  EXPECT_EQ(direct(0)->add("n", 0), 1);
  last.join();
}

// For a launch of 1024 ranks, two per host.
class Reach : public testing::Test {
 protected:
  Way reach_as(int rank, const std::string& host, std::chrono::milliseconds limit = 5s) const {
    const Placement placement{rank, 1024, rank % 2, 2, rank / 2, 512};
    return reach(placement, "reach-test/" + std::to_string(getpid()) + "/" + host,
                 {server_->place()}, {world_, static_cast<std::uint32_t>(rank)},
                 Clock::now() + limit);
  }

  World world_ = a_world(1024);
  std::unique_ptr<Server> server_ = Server::start({"127.0.0.1", 0}, world_);
};

TEST_F(Reach, the_first_rank_of_a_host_serves_the_others) {
  Way second;
  std::thread other([&] { second = reach_as(3, "a"); });
  const Way first = reach_as(2, "a");
  other.join();
  EXPECT_NE(first.relay, nullptr);
  EXPECT_FALSE(first.is_through_relay());
  EXPECT_EQ(second.relay, nullptr);
  EXPECT_TRUE(second.is_through_relay());
  EXPECT_EQ(second.client->add("n", 1), 1);
  EXPECT_EQ(first.client->add("n", 1), 2);
  second.client.reset();
}

TEST_F(Reach, a_host_without_its_first_rank_does_without) {
  const Way way = reach_as(5, "b", 400ms);
  EXPECT_FALSE(way.is_through_relay());
  EXPECT_EQ(way.client->add("n", 1), 1);
}

TEST_F(Reach, a_rank_is_one_process_on_whatever_host) {
  const Way first = reach_as(6, "c");
  Way second = reach_as(7, "c");
  const Way elsewhere = reach_as(8, "d");
  try {
    reach_as(7, "d");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.found(), "another process is already rank 7 of this launch");
  }
  second.client.reset();
}

TEST(RelaysByHost, in_large_launches_or_with_few_descriptors) {
  constexpr std::uint64_t kMany = 1U << 20U;
  const auto launch = [](int world_size, int local_size, int num_nodes) {
    return Placement{0, world_size, 0, local_size, 0, num_nodes};
  };
  EXPECT_FALSE(relays_by_host(launch(512, 8, 64), kMany));
  EXPECT_TRUE(relays_by_host(launch(520, 8, 65), kMany));
  EXPECT_FALSE(relays_by_host(launch(520, 1, 520), kMany));
  EXPECT_FALSE(relays_by_host(launch(1024, 1024, 1), kMany));
  EXPECT_FALSE(relays_by_host(launch(4, 2, 2), 72));
  EXPECT_TRUE(relays_by_host(launch(4, 2, 2), 71));
}

}  // namespace
}  // namespace hpcboot::rendezvous
