#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <map>
#include <thread>

#include "a_rank.hpp"
#include "hpcboot/error.hpp"
#include "rendezvous/handover.hpp"
#include "rendezvous/store/fresh_handover.hpp"
#include "rendezvous/store/meet_by_openmpi.hpp"
#include "rendezvous/store/rendezvous.hpp"
#include "rendezvous/store/store_kvs.hpp"

// Each way to the store of rank 0 awaits it, also with a deadline that ends beyond what the clock
// counts.
namespace hpcboot::rendezvous {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kLongest = milliseconds::max();

Resolution a_rank_of_one_host(int rank) {
  Resolution r = a_rank(rank, 2);
  r.placement = {rank, 2, rank, 2, 0, 1};
  return r;
}

// Rank 0 comes later than rank 1.
void expect_both_meet(const std::function<Rendezvous(int rank)>& meet_as) {
  std::array<Rendezvous, 2> met;
  const auto come = [&](int rank) {
    try {
      met[static_cast<std::size_t>(rank)] = meet_as(rank);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  };
  std::thread rank0([&] {
    std::this_thread::sleep_for(50ms);
    come(0);
  });
  come(1);
  rank0.join();
  ASSERT_TRUE(met[1].client);
  EXPECT_EQ(met[1].client->add("n", 1), 1);
}

TEST(LongestDeadline, of_a_meeting_at_an_endpoint) {
  const Env env;
  expect_both_meet(
      [&](int rank) { return meet(a_rank(rank, 2), env, nullptr, Purpose::training, kLongest); });
}

TEST(LongestDeadline, of_a_meeting_on_one_host) {
  const Env env;
  expect_both_meet([&](int rank) {
    return meet(a_rank_of_one_host(rank), env, nullptr, Purpose::training, kLongest);
  });
}

TEST(LongestDeadline, of_a_meeting_by_handover) {
  const Env env = with_marked_handover(Env(fresh_handover(2, {"127.0.0.1"}).variables()));
  ASSERT_TRUE(handover_for(env, 2));
  expect_both_meet(
      [&](int rank) { return meet(a_rank(rank, 2), env, nullptr, Purpose::training, kLongest); });
}

TEST(LongestDeadline, of_a_meeting_by_mpirun) {
  const auto env_of = [](int rank) {
    return Env(std::map<std::string, std::string>{
        {"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
        {"OMPI_COMM_WORLD_SIZE", "2"},
        {"PMIX_RANK", std::to_string(rank)},
        {"PMIX_NAMESPACE", "long-deadline-test-" + std::to_string(getpid())},
        {"OMPI_MCA_orte_precondition_transports", "931cc8a29557b0a1-a7a6ba7a0b32abbd"}});
  };
  expect_both_meet([&](int rank) { return meet_by_openmpi(env_of(rank), {}, kLongest); });
}

// The store's own exchange, by which the last way meets.
TEST(LongestDeadline, of_an_exchange_over_a_store) {
  const Env env;
  const auto kvs_of = [&](int rank) {
    return kvs_over(meet(a_rank_of_one_host(rank), env, nullptr, Purpose::exec, kLongest), rank, 2);
  };
  expect_both_meet([&](int rank) {
    const auto kvs = kvs_of(rank);
    kvs->put("key", "of " + std::to_string(rank));
    if (rank == 0) std::this_thread::sleep_for(50ms);
    kvs->commit(kLongest);
    EXPECT_EQ(kvs->get(1 - rank, "key", kLongest), "of " + std::to_string(1 - rank));
    kvs->fence(kLongest);
    Resolution r = a_rank(rank, 2);
    r.interface_address = "127.0.0.1";
    return meet(r, env, kvs.get(), Purpose::training, kLongest);
  });
}

}  // namespace
}  // namespace hpcboot::rendezvous
