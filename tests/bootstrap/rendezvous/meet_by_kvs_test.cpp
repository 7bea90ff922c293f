#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "hpcboot/key_value_store.hpp"
#include "rendezvous/store/rendezvous.hpp"
#include "support/expect_error.hpp"

// Ranks that learn from a launcher's exchange where rank 0 serves.
namespace hpcboot::rendezvous {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// The values that a launcher stores for its ranks.
struct Values {
  std::mutex mutex;
  std::condition_variable came;
  std::map<std::string, std::string> of_rank0;
};

class KvsOfThreads : public KeyValueStore {
 public:
  KvsOfThreads(Values& values, int rank, int world_size)
      : values_(values), rank_(rank), world_size_(world_size) {}

  void put(const std::string& key, const std::string& value) override { put_[key] = value; }
  void commit(milliseconds) override {
    const std::lock_guard<std::mutex> lock(values_.mutex);
    if (rank_ == 0) values_.of_rank0.insert(put_.begin(), put_.end());
    values_.came.notify_all();
  }
  std::string get(int rank, const std::string& key, milliseconds deadline) override {
    EXPECT_EQ(rank, 0);
    std::unique_lock<std::mutex> lock(values_.mutex);
    if (!values_.came.wait_for(lock, deadline, [&] { return values_.of_rank0.count(key) != 0; }))
      throw Error(ErrorCode::deadline_exceeded, "no " + key, "one", "-");
    return values_.of_rank0[key];
  }
  void fence(milliseconds) override {}
  int rank() const override { return rank_; }
  int world_size() const override { return world_size_; }
  std::string description() const override { return "threads"; }

 private:
  Values& values_;
  std::map<std::string, std::string> put_;
  int rank_;
  int world_size_;
};

Resolution a_rank(int rank) {
  Resolution r;
  r.placement = {rank, 3, 0, 1, rank, 3};
  r.launcher = "openmpi";
  r.interface_address = "127.0.0.1";
  return r;
}

Rendezvous meet_by(Values& values, const Resolution& resolution, milliseconds deadline = 10s) {
  KvsOfThreads kvs(values, resolution.placement.rank, 3);
  return meet(resolution, Env(), &kvs, Purpose::training, deadline);
}

std::vector<Rendezvous> meet_all(Values& values, const std::function<Resolution(int)>& rank_of) {
  std::vector<Rendezvous> meetings(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back(
        [&, rank] { meetings[static_cast<std::size_t>(rank)] = meet_by(values, rank_of(rank)); });
  }
  for (std::thread& thread : threads) thread.join();
  return meetings;
}

TEST(MeetByKvs, the_ranks_find_the_store_of_rank_zero) {
  Values values;
  const auto meetings = meet_all(values, a_rank);
  const Place place = meetings[0].server->place();
  EXPECT_GT(place.port, 0);
  for (const Rendezvous& meeting : meetings) {
    EXPECT_EQ(meeting.client->place().port, place.port);
    EXPECT_EQ(meeting.description,
              "store at 127.0.0.1:" + std::to_string(place.port) + ", published by threads");
  }
  EXPECT_EQ(meetings[1].client->add("n", 1), 1);
  EXPECT_EQ(meetings[2].client->add("n", 1), 2);
  EXPECT_EQ(meetings[1].server, nullptr);
  ASSERT_EQ(values.of_rank0.size(), 1U);
  // An address, a port and a secret of 32 bytes.
  EXPECT_THAT(values.of_rank0.begin()->second,
              testing::MatchesRegex("127.0.0.1 " + std::to_string(place.port) + " [0-9a-f]+"));
  EXPECT_EQ(values.of_rank0.begin()->second.size(), 11 + std::to_string(place.port).size() + 64);
}

TEST(MeetByKvs, the_address_is_the_interfaces_unless_a_user_chose_one) {
  Resolution r = a_rank(0);
  r.master_addr = "localhost";
  Values values;
  EXPECT_EQ(meet_by(values, r).server->place().address, "127.0.0.1");
  r.provenance["master_addr"] = {"explicit", "HPCBOOT_MASTER_ADDR"};
  Values others;
  meet_by(others, r);
  EXPECT_THAT(others.of_rank0.begin()->second, testing::StartsWith("localhost "));
  r.interface_address.reset();
  r.master_addr.reset();
  test::expect_error(
      ErrorCode::no_usable_interface, [&] { meet_by(others, r); }, "this host has no address");
}

TEST(MeetByKvs, what_is_no_place_is_an_error) {
  for (const char* text :
       {"", "127.0.0.1", "127.0.0.1 4711", "127.0.0.1 0 00", "127.0.0.1 65536 00", "127.0.0.1 x 00",
        "127.0.0.1 4711 0", "127.0.0.1 4711 zz"}) {
    Values good;
    const Rendezvous first = meet_by(good, a_rank(0));
    Values values;
    values.of_rank0[good.of_rank0.begin()->first] = text;
    test::expect_error(
        ErrorCode::exchange_failed, [&] { meet_by(values, a_rank(1), 2s); },
        "rank 0 published a malformed address");
  }
}

}  // namespace
}  // namespace hpcboot::rendezvous
