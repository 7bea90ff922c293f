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
    client->set_way_out({server_->place()}, {world_, rank});
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

// As if the process that relays were killed: its ranks go on by themselves, also a wait.
TEST_F(RelayTo, without_the_relay_its_ranks_go_to_rank_0) {
  auto leaving = through_relay(3);
  const auto two = with_way_out(2);
  two->set("k", "v");
  std::thread waiting([&] { EXPECT_EQ(get(*two, "later"), "came"); });
  std::this_thread::sleep_for(20ms);
  leaving.reset();
  const auto began = Clock::now();
  relay_.reset();
  EXPECT_LT(Clock::now() - began, 4s);
  EXPECT_EQ(two->add("n", 1), 1);
  direct(0)->set("later", "came");
  waiting.join();
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
