#include "store_kvs.hpp"

#include <thread>
#include <utility>
#include <vector>

#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "rendezvous/stored_entry.hpp"

namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFarewell = std::chrono::seconds(3);
constexpr const char* kLeft = "hpcboot/left";

class StoreKvs : public KeyValueStore {
 public:
  StoreKvs(Rendezvous meeting, int rank, int world_size)
      : meeting_(std::move(meeting)), rank_(rank), world_size_(world_size) {}
  ~StoreKvs() override { leave_together(*meeting_.client, rank_ == 0, world_size_ - 1); }
  StoreKvs(const StoreKvs&) = delete;
  StoreKvs& operator=(const StoreKvs&) = delete;

  void put(const std::string& key, const std::string& value) override {
    require_storable(key, value);
    keys_.push_back(key_of(rank_, key));
    values_.push_back(value);
  }

  void commit(milliseconds) override {
    if (!keys_.empty()) meeting_.client->set_many(keys_, values_);
    keys_.clear();
    values_.clear();
  }

  std::string get(int rank, const std::string& key, milliseconds deadline) override {
    std::vector<std::string> values;
    std::vector<std::string> missing;
    if (meeting_.client->get({key_of(rank, key)}, end_after(deadline), values, missing))
      return values.front();
    fail_late("no '" + key + "' from rank " + std::to_string(rank), deadline);
  }

  void fence(milliseconds deadline) override {
    const std::string name = "hpcboot/fence/" + std::to_string(++fences_);
    std::vector<std::string> missing;
    const auto end = end_after(deadline);
    if (meeting_.client->add(name, 1, end) == world_size_) meeting_.client->set(name + "/all", "");
    if (!meeting_.client->wait({name + "/all"}, end, missing))
      fail_late("not every rank arrived at a fence", deadline);
  }

  int rank() const override { return rank_; }
  int world_size() const override { return world_size_; }
  std::string description() const override { return meeting_.description; }

 private:
  static std::string key_of(int rank, const std::string& key) {
    return "value/" + std::to_string(rank) + "/" + stored_key(key);
  }

  [[noreturn]] static void fail_late(const std::string& what, milliseconds deadline) {
    throw Error(ErrorCode::deadline_exceeded,
                what + " within " + std::to_string(deadline.count()) + " ms",
                "every rank of the launch to start within the deadline",
                "check the output of that rank and its host: did it start?");
  }

  Rendezvous meeting_;
  int rank_;
  int world_size_;
  int fences_ = 0;
  std::vector<std::string> keys_;
  std::vector<std::string> values_;
};

}  // namespace

std::unique_ptr<KeyValueStore> kvs_over(Rendezvous meeting, int rank, int world_size) {
  return std::make_unique<StoreKvs>(std::move(meeting), rank, world_size);
}

void leave_together(Client& client, bool is_first, int others) noexcept {
  try {
    const auto end = Clock::now() + kFarewell;
    if (!is_first) {
      client.add(kLeft, 1, end);
      return;
    }
    while (client.add(kLeft, 0, end) < others && Clock::now() < end)
      std::this_thread::sleep_for(milliseconds(2));
  } catch (const std::exception&) {
    // A rank that has already gone needs no farewell.
  }
}

}  // namespace hpcboot::rendezvous
