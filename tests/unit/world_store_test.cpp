#include "world_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include <atomic>
#include <future>
#include <thread>

#include "hpcboot/error.hpp"

// The store of one launch, as c10d uses it.
namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

Bytes bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

class WorldStoreOf : public testing::Test {
 protected:
  c10::intrusive_ptr<c10d::Store> join(std::uint32_t rank,
                                       milliseconds timeout = milliseconds(5000)) {
    auto client = rendezvous::Client::connect({server_->place()}, {world_, rank},
                                              rendezvous::Clock::now() + milliseconds(5000));
    return c10::make_intrusive<WorldStore>(
        std::make_shared<rendezvous::Rendezvous>(rendezvous::Rendezvous{
            rank == 0 ? server_ : nullptr, nullptr, std::move(client), "a test's"}),
        timeout);
  }

  rendezvous::World world_{"a test", 3, rendezvous::Secret::random()};
  std::shared_ptr<rendezvous::Server> server_ = rendezvous::Server::start({"127.0.0.1", 0}, world_);
};

TEST_F(WorldStoreOf, KeepsC10dsPromises) {
  const auto zero = join(0);
  const auto one = c10::make_intrusive<c10d::PrefixStore>("p", join(1));
  zero->set("p/k", bytes("v"));
  EXPECT_EQ(one->get("k"), bytes("v"));
  EXPECT_TRUE(one->check({"k"}));
  EXPECT_FALSE(one->check({"k", "other"}));
  EXPECT_EQ(one->add("n", 2), 2);
  EXPECT_EQ(zero->add("p/n", 3), 5);
  EXPECT_EQ(one->get("n"), bytes("5"));
  EXPECT_EQ(zero->compareSet("c", bytes("x"), bytes("y")), bytes("x"));
  EXPECT_EQ(zero->compareSet("c", bytes(""), bytes("y")), bytes("y"));
  EXPECT_EQ(zero->getNumKeys(), 3);
  EXPECT_TRUE(one->deleteKey("k"));
  EXPECT_FALSE(one->deleteKey("k"));
}

TEST_F(WorldStoreOf, HasTheExtendedInterface) {
  const auto base = join(1);
  auto* store = dynamic_cast<WorldStore*>(base.get());
  EXPECT_TRUE(store->hasExtendedApi());
  store->multiSet({"a", "b"}, {bytes("1"), bytes("2")});
  store->append("b", bytes("+"));
  EXPECT_EQ(store->multiGet({"b", "a"}), (std::vector<Bytes>{bytes("2+"), bytes("1")}));
  EXPECT_EQ(store->clone()->get("a"), bytes("1"));
}

TEST_F(WorldStoreOf, AWaitThatIsOverSaysWhatC10dLooksFor) {
  const auto store = join(1, milliseconds(30));
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { store->get("missing"); }, [&] { store->wait({"missing"}); },
           [&] { store->wait({"missing"}, milliseconds(20)); }}) {
    try {
      call();
      ADD_FAILURE() << "no exception";
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    } catch (const std::exception& late) {
      EXPECT_THAT(late.what(), AllOf(HasSubstr("wait timeout after"), HasSubstr("missing")));
    }
  }
}

// NCCL's watchdog queries the store while another thread waits for a peer.
TEST_F(WorldStoreOf, AThreadThatWaitsDoesNotHoldUpAnother) {
  const auto store = join(1);
  std::atomic<bool> came{false};
  std::thread waiting([&] {
    store->wait({"late"}, milliseconds(20000));
    came = true;
  });
  std::this_thread::sleep_for(milliseconds(20));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(store->check({"late"}));
  EXPECT_FALSE(came);
  store->set("late", Bytes{});
  waiting.join();
}

TEST_F(WorldStoreOf, WithoutRankZeroItIsALostPeer) {
  auto zero = join(0);
  const auto one = join(1);
  zero.reset();
  server_.reset();
  try {
    one->check({"k"});
    ADD_FAILURE() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::peer_lost);
  }
}

}  // namespace
}  // namespace hpcboot
