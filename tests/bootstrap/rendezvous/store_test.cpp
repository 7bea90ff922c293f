#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <thread>

#include "rendezvous/store/table.hpp"
#include "store_here.hpp"
#include "support/without_threads.hpp"

namespace hpcboot::rendezvous {
namespace {

using namespace std::chrono_literals;
using namespace test;

class StoreAt : public testing::TestWithParam<bool> {
 protected:
  Place place_ = GetParam() ? a_local_place() : a_place();
  World world_ = a_world(3);
  std::unique_ptr<Server> server_ = Server::start(place_, world_);
  std::unique_ptr<Client> client_ = join(*server_, world_, 1);
};

INSTANTIATE_TEST_SUITE_P(Places, StoreAt, testing::Bool(),
                         [](const auto& one) { return one.param ? "local" : "tcp"; });

TEST_P(StoreAt, keeps_what_ranks_tell) {
  client_->set("a", std::string("\0binary\n", 8));
  EXPECT_EQ(get(*join(*server_, world_, 0), {"a"}), std::vector{std::string("\0binary\n", 8)});
  client_->append("a", "+");
  client_->append("new", "first");
  client_->set_many({"b", "c"}, {"2", ""});
  EXPECT_EQ(get(*client_, {"c", "b", "new"}), (std::vector<std::string>{"", "2", "first"}));
  EXPECT_EQ(client_->add("n", 5), 5);
  EXPECT_EQ(client_->add("n", -7), -2);
  EXPECT_EQ(get(*client_, {"n"}), std::vector<std::string>{"-2"});
  EXPECT_EQ(client_->count(), 5);
  EXPECT_TRUE(client_->check({"a", "b"}));
  EXPECT_FALSE(client_->check({"a", "x"}));
  EXPECT_TRUE(client_->erase("a"));
  EXPECT_FALSE(client_->erase("a"));
}

TEST(Store, is_refused_without_a_thread_that_serves_it) {
  const auto holds = hpcboot::test::holds_without_threads([] {
    return code_of([] { Server::start(a_place(), a_world(2)); }) == ErrorCode::exchange_failed;
  });
  if (!holds) GTEST_SKIP() << "this process cannot be limited";
  EXPECT_TRUE(*holds);
}

TEST_P(StoreAt, compares_before_it_sets) {
  EXPECT_EQ(client_->compare_set("k", "expected", "x"), "expected");
  EXPECT_EQ(client_->compare_set("k", "", "one"), "one");
  EXPECT_EQ(client_->compare_set("k", "other", "two"), "one");
  EXPECT_EQ(client_->compare_set("k", "one", "two"), "two");
}

TEST_P(StoreAt, waits_for_others_and_names_what_is_missing) {
  std::thread later([&] {
    std::this_thread::sleep_for(50ms);
    join(*server_, world_, 2)->set("late", "here");
  });
  EXPECT_EQ(get(*client_, {"late"}), std::vector<std::string>{"here"});
  later.join();
  std::vector<std::string> missing;
  EXPECT_FALSE(client_->wait({"late", "never", "nor this"}, Clock::now() + 30ms, missing));
  EXPECT_EQ(missing, (std::vector<std::string>{"never", "nor this"}));
  client_->set("never", "");
  client_->set("nor this", "");
  EXPECT_TRUE(client_->wait({"late", "never", "nor this"}, Clock::now() + 30ms, missing));
}

TEST_P(StoreAt, one_thread_that_waits_does_not_hold_up_another) {
  std::atomic<bool> came{false};
  std::thread waiting([&] {
    EXPECT_EQ(get(*client_, {"k"}), std::vector<std::string>{"v"});
    came = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(client_->add("n", 1), 1);
  EXPECT_FALSE(came);
  client_->set("k", "v");
  waiting.join();
}

TEST_P(StoreAt, carries_megabytes) {
  const std::string large(std::size_t{20} << 20U, 'x');
  client_->set("large", large);
  EXPECT_EQ(get(*client_, {"large"}).front(), large);
  // 64 MiB, as the error says.
  EXPECT_EQ(code_of([&] { client_->set("too large", std::string(std::size_t{64} << 20U, 'x')); }),
            ErrorCode::exchange_failed);
}

// No frame could carry it.
TEST_P(StoreAt, refuses_to_show_a_value_that_has_grown_too_large) {
  const std::string half(kLargestFrame / 2, 'x');
  for (int i = 0; i < 2; ++i) client_->append("k", half);
  EXPECT_EQ(code_of([&] { get(*client_, {"k"}); }), ErrorCode::exchange_failed);
  EXPECT_EQ(code_of([&] { client_->compare_set("k", "y", "z"); }), ErrorCode::exchange_failed);
  EXPECT_EQ(client_->compare_set("new", "y", "z"), "y");
}

TEST_P(StoreAt, refuses_a_sum_that_is_none) {
  client_->set("text", "7 ");
  EXPECT_EQ(code_of([&] { client_->add("text", 1); }), ErrorCode::exchange_failed);
  client_->set("most", "9223372036854775807");
  EXPECT_EQ(code_of([&] { client_->add("most", 1); }), ErrorCode::exchange_failed);
  EXPECT_EQ(client_->add("n", 1), 1);  // the connection stays usable
}

TEST_P(StoreAt, believes_nobody_without_the_secret_the_identity_and_the_size) {
  World other = world_;
  other.secret = Secret("another secret");
  EXPECT_EQ(code_of([&] { join(*server_, other, 0, 50ms); }), ErrorCode::deadline_exceeded);
  other = world_;
  other.identity = "job 8";
  EXPECT_EQ(code_of([&] { join(*server_, other, 0, 50ms); }), ErrorCode::deadline_exceeded);
  other = world_;
  other.size = 4;
  EXPECT_EQ(code_of([&] { join(*server_, other, 0, 50ms); }), ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of([&] { join(*server_, world_, 3, 50ms); }), ErrorCode::deadline_exceeded);
}

// Even after it has gone: a later process belongs to another run, whose store is elsewhere.
TEST_P(StoreAt, a_rank_is_the_first_process_that_proved_it) {
  EXPECT_EQ(code_of([&] { join(*server_, world_, 1, 50ms); }), ErrorCode::deadline_exceeded);
  client_.reset();
  EXPECT_EQ(code_of([&] { join(*server_, world_, 1, 50ms); }), ErrorCode::deadline_exceeded);
  EXPECT_EQ(join(*server_, world_, 2)->add("n", 1), 1);
}

TEST_P(StoreAt, refuses_keys_that_are_too_long_and_keeps_the_connection) {
  const std::string longest(kLongestKey, 'k');
  client_->set(longest, "v");
  EXPECT_EQ(get(*client_, {longest}).front(), "v");
  EXPECT_EQ(code_of([&] { client_->set(longest + "k", "v"); }), ErrorCode::exchange_failed);
  EXPECT_EQ(code_of([&] { client_->set_many({"a", "b"}, {"1"}); }), ErrorCode::exchange_failed);
  EXPECT_EQ(client_->add("n", 1), 1);
}

TEST_P(StoreAt, a_client_says_that_the_store_is_gone) {
  std::thread end([&] {
    std::this_thread::sleep_for(30ms);
    server_.reset();
  });
  std::vector<std::string> missing;
  EXPECT_EQ(code_of([&] { client_->wait({"k"}, Clock::now() + 20s, missing); }),
            ErrorCode::peer_lost);
  end.join();
  EXPECT_EQ(code_of([&] { client_->set("k", ""); }), ErrorCode::peer_lost);
}

TEST(Store, a_client_goes_on_to_the_next_place) {
  const World world = a_world(2);
  const auto stranger = Server::start(a_place(), a_world(2, "another launch's"));
  const auto server = Server::start(a_place(), world);
  Place nobody = a_place();
  listen_at(nobody).close();
  const auto client =
      Client::connect({nobody, stranger->place(), server->place()}, {world, 1}, Clock::now() + 5s);
  EXPECT_EQ(client->place().port, server->place().port);
}

TEST(Store, is_bound_to_its_address_alone) {
  const auto server = Server::start({"127.0.0.2", 0}, a_world(2));
  std::string reason;
  EXPECT_FALSE(
      connect_to({"127.0.0.1", server->place().port}, Clock::now() + 1s, reason).is_open());
  EXPECT_TRUE(connect_to({"127.0.0.2", server->place().port}, Clock::now() + 1s, reason).is_open());
}

TEST(Store, a_place_that_is_taken_is_none) {
  const auto first = Server::start(a_place(), a_world(2));
  EXPECT_EQ(Server::start(first->place(), a_world(2)), nullptr);
  const auto local = Server::start(a_local_place(), a_world(2));
  EXPECT_EQ(Server::start(local->place(), a_world(2)), nullptr);
}

// Large answers are still on their way when rank 0 ends.
TEST(Store, what_was_answered_arrives_though_the_server_ends) {
  constexpr std::uint32_t kRanks = 4;
  const World world = a_world(kRanks);
  auto server = Server::start(a_place(), world);
  std::atomic<int> complete{0};
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) {
    ranks.emplace_back([&, client = std::shared_ptr<Client>(join(*server, world, rank))] {
      complete += get(*client, {"k"}, 20s).at(0).size() == std::size_t{8} << 20U ? 1 : 0;
    });
  }
  std::this_thread::sleep_for(50ms);
  join(*server, world, 0)->set("k", std::string(std::size_t{8} << 20U, 'x'));
  server.reset();
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(complete, 3);
}

// A second launch with the same identity connects to its port as rank 0.
TEST(Store, rank_0_is_the_process_that_serves_from_the_start) {
  const World world = a_world(2);
  Member rank0{world, 0};
  const auto server = Server::start(a_place(), world, rank0.token);
  Member other{world, 0};
  EXPECT_EQ(Link::open(server->place(), other, Clock::now() + 5s).outcome,
            Link::Outcome::rank_is_taken);
  EXPECT_EQ(Link::open(server->place(), rank0, Clock::now() + 5s).outcome, Link::Outcome::ours);
}

TEST(Store, hundreds_of_ranks_meet) {
  constexpr int kRanks = 256;
  const World world = a_world(kRanks);
  const auto server = Server::start(a_place(), world);
  std::vector<std::thread> ranks;
  std::atomic<int> right{0};
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto client = join(*server, world, static_cast<std::uint32_t>(rank), 30s);
      client->set("r" + std::to_string(rank), std::to_string(rank));
      std::vector<std::string> keys;
      for (int other = 0; other < kRanks; ++other) keys.push_back("r" + std::to_string(other));
      const auto values = get(*client, keys, 30s);
      right += values.size() == kRanks && values.back() == std::to_string(kRanks - 1) ? 1 : 0;
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(right, kRanks);
}

// A small entry costs many times the size of its key and value.
TEST(Table, is_full_of_small_entries) {
  Table table(100'000);
  int taken = 0;
  while (table.set("key " + std::to_string(taken), "")) ++taken;
  EXPECT_GT(taken, 500);
  EXPECT_LT(taken, 1000);
  EXPECT_TRUE(table.set("key 0", ""));  // replaces the existing entry
  for (int i = 0; i < taken; ++i) EXPECT_TRUE(table.erase("key " + std::to_string(i)));
  EXPECT_TRUE(table.set("k", std::string(99'000, 'v')));
}

// Compared with waiters for different keys, since machines differ in speed.
TEST(Table, forgets_the_waiters_for_one_key_as_fast_as_others) {
  constexpr Table::Waiter kWaiters = 100'000;
  const auto processor_time = [](const std::function<std::string(Table::Waiter)>& key_of) {
    Table table;
    for (Table::Waiter waiter = 1; waiter <= kWaiters; ++waiter)
      table.await(waiter, {key_of(waiter)});
    const std::clock_t start = std::clock();
    for (Table::Waiter waiter = 1; waiter < kWaiters; ++waiter) table.forget(waiter);
    const std::clock_t time = std::clock() - start;
    EXPECT_TRUE(table.set(key_of(kWaiters), ""));
    EXPECT_EQ(table.take_ready(), std::vector<Table::Waiter>{kWaiters});
    return time;
  };
  const auto of_different = processor_time([](auto waiter) { return std::to_string(waiter); });
  const auto of_one = processor_time([](auto) { return "key"; });
  EXPECT_LT(of_one, 10 * of_different);
}

}  // namespace
}  // namespace hpcboot::rendezvous
