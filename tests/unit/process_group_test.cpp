#include "hpcboot/torch/process_group.hpp"

#include <gmock/gmock.h>
#include <torch/torch.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "support/thread_ranks.hpp"
#include "wait_for_all.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::free_port;
using testing_support::ListeningPort;
using testing_support::loopback_resolution;
using testing_support::run_ranks;

const Env kEmptyEnv;

ProcessGroupOptions start_up_within(milliseconds deadline) {
  ProcessGroupOptions options;
  options.start_up_deadline = deadline;
  return options;
}

/// The Error that was thrown; fails the test if there is none.
Error error_of(const std::exception_ptr& thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& other) {
    ADD_FAILURE() << "thrown: " << other.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return Error(ErrorCode::malformed_value, "-", "-", "-");
}

template <typename Body>
Error error_of_call(Body body) {
  try {
    body();
  } catch (...) {
    return error_of(std::current_exception());
  }
  return error_of(nullptr);
}

TEST(ProcessGroup, ALoneRankNeedsNobody) {
  ProcessGroup group = make_process_group(Resolution{}, kEmptyEnv);
  EXPECT_EQ(group.rank(), 0);
  EXPECT_EQ(group.world_size(), 1);
  torch::Tensor tensor = torch::full({3}, 2.0);
  all_reduce(group, tensor).wait();
  EXPECT_TRUE(tensor.equal(torch::full({3}, 2.0)));
  EXPECT_THAT(all_gather_text(group, "me"), testing::ElementsAre("me"));
  EXPECT_EQ(broadcast_text(group, "run"), "run");
  group.shutdown();
  group.shutdown();
}

TEST(ProcessGroup, RanksMeetAtAnExplicitEndpoint) {
  const auto thrown = run_ranks({0, 1, 2}, 3, [](const Resolution& resolution) {
    ProcessGroup group =
        make_process_group(resolution, kEmptyEnv, start_up_within(milliseconds(20000)));
    const int rank = resolution.placement.rank;
    EXPECT_EQ(group.rank(), rank);
    torch::Tensor tensor = torch::full({2}, rank + 1);
    all_reduce(group, tensor).wait();
    EXPECT_TRUE(tensor.equal(torch::full({2}, 6)));
    EXPECT_EQ(broadcast_text(group, "from " + std::to_string(rank), 2), "from 2");
    EXPECT_EQ(broadcast_text(group, ""), "");
    EXPECT_THAT(all_gather_text(group, std::string(static_cast<std::size_t>(rank), 'x')),
                testing::ElementsAre("", "x", "xx"));
    group.barrier();
    group.shutdown();
  });
  for (const auto& one : thrown) EXPECT_EQ(one, nullptr);
}

TEST(ProcessGroup, EveryRankNamesTheMissingOnes) {
  const auto thrown = run_ranks({0, 2}, 4, [](Resolution resolution) {
    resolution.hosts = {own_hostname(), "n2", "n3"};
    make_process_group(resolution, kEmptyEnv, start_up_within(milliseconds(4000)));
  });
  for (const auto& one : thrown) {
    const Error error = error_of(one);
    EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
    EXPECT_THAT(error.found(), AllOf(HasSubstr("ranks 1, 3 of 4 did not arrive"),
                                     HasSubstr("no rank arrived from n[2-3]")));
  }
}

// As when hosts are listed by address.
TEST(WaitForAll, NamesNoHostsIfTheListHasOtherNamesForThem) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const Error error = error_of_call([&] {
    wait_for_all(*store, 0, 2, "n1 77", {"10.0.0.1", "10.0.0.2"}, milliseconds(20));
  });
  EXPECT_EQ(error.found(), "rank 1 of 2 did not arrive within 20 ms");
}

TEST(ProcessGroup, WithoutRankZeroThereIsNoStoreToMeetIn) {
  const auto thrown = run_ranks({1}, 2, [](const Resolution& resolution) {
    make_process_group(resolution, kEmptyEnv, start_up_within(milliseconds(500)));
  });
  const Error error = error_of(thrown[0]);
  EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
  EXPECT_THAT(error.found(), AllOf(HasSubstr("rank 1 on "), HasSubstr("127.0.0.1:")));
  EXPECT_THAT(error.expected(), HasSubstr("rank 0"));
}

TEST(ProcessGroup, ATakenPortIsNamed) {
  const ListeningPort taken;
  const Error error = error_of_call([&] {
    make_process_group(loopback_resolution(0, 2, taken.port()), kEmptyEnv,
                       start_up_within(milliseconds(500)));
  });
  EXPECT_EQ(error.code(), ErrorCode::exchange_failed);
  EXPECT_THAT(error.found(), HasSubstr("port " + std::to_string(taken.port())));
  EXPECT_THAT(error.remedy(), HasSubstr("HPCBOOT_MASTER_PORT"));
}

TEST(ProcessGroup, WithNoPlaceToMeetItSaysWhichVariablesHelp) {
  Resolution resolution = loopback_resolution(0, 2, 1);
  resolution.placement = {0, 2, 0, 1, 0, 2};
  resolution.endpoint_is_explicit = false;
  resolution.master_addr.reset();
  resolution.master_port.reset();
  const Error error = error_of_call([&] { make_process_group(resolution, kEmptyEnv); });
  EXPECT_EQ(error.code(), ErrorCode::needs_exchange);
  EXPECT_THAT(error.remedy(),
              AllOf(HasSubstr("HPCBOOT_MASTER_ADDR"), HasSubstr("HPCBOOT_MASTER_PORT")));
}

TEST(ProcessGroup, RefusesABackendThatItDoesNotHave) {
  ProcessGroupOptions options;
  options.backend = "carrier-pigeon";
  const Error error = error_of_call([&] { make_process_group(Resolution{}, kEmptyEnv, options); });
  EXPECT_EQ(error.code(), ErrorCode::backend_unavailable);
  EXPECT_THAT(error.found(), HasSubstr("carrier-pigeon"));
}

TEST(ProcessGroup, NcclNeedsABuildAndADeviceForIt) {
  ProcessGroupOptions options;
  options.backend = "nccl";
  Resolution resolution;
  resolution.device = 4711;  // no machine has so many
  const Error error = error_of_call([&] { make_process_group(resolution, kEmptyEnv, options); });
  EXPECT_EQ(error.code(), ErrorCode::backend_unavailable);
  EXPECT_THAT(error.found(), HasSubstr(has_nccl() ? "no CUDA device" : "this build lacks"));
}

TEST(ProcessGroup, UnderTorchrunTheAgentServesAndRankZeroDoesNot) {
  c10d::TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  options.waitWorkers = false;
  const auto agent = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  const auto thrown = run_ranks({0, 1}, 2, [&](Resolution resolution) {
    resolution.agent_store = true;
    resolution.placement.local_size = 1;
    resolution.placement.num_nodes = 2;
    resolution.placement.local_rank = 0;
    resolution.placement.node_rank = resolution.placement.rank;
    resolution.master_port = agent->getPort();
    ProcessGroup group =
        make_process_group(resolution, kEmptyEnv, start_up_within(milliseconds(20000)));
    EXPECT_THAT(group.description(), HasSubstr("store at 127.0.0.1:"));
    EXPECT_THAT(group.description(), Not(HasSubstr(std::to_string(agent->getPort()))));
    group.shutdown();
  });
  for (const auto& one : thrown) EXPECT_EQ(one, nullptr);
}

// An agent of a version other than LibTorch's need not be understood, and its port does not matter.
TEST(ProcessGroup, OnOneHostTheAgentsStoreIsLeftAlone) {
  const ListeningPort mute;
  for (const bool has_agent : {true, false}) {
    const auto thrown = run_ranks({0, 1, 2}, 3, [&](Resolution resolution) {
      resolution.agent_store = has_agent;
      resolution.endpoint_is_explicit = has_agent;
      resolution.master_port = mute.port();
      ProcessGroup group =
          make_process_group(resolution, kEmptyEnv, start_up_within(milliseconds(20000)));
      EXPECT_THAT(group.description(), HasSubstr("store on this host at @hpcboot-"));
      torch::Tensor tensor = torch::full({2}, resolution.placement.rank + 1);
      all_reduce(group, tensor).wait();
      EXPECT_TRUE(tensor.equal(torch::full({2}, 6)));
      group.shutdown();
    });
    for (const auto& one : thrown) EXPECT_EQ(one, nullptr);
  }
}

TEST(ProcessGroup, ARankThatLeavesIsALostPeer) {
  const auto thrown = run_ranks({0, 1}, 2, [](const Resolution& resolution) {
    ProcessGroup group =
        make_process_group(resolution, kEmptyEnv, start_up_within(milliseconds(20000)));
    if (group.rank() == 0) group.barrier();
  });
  EXPECT_EQ(error_of(thrown[0]).code(), ErrorCode::peer_lost);
  EXPECT_EQ(thrown[1], nullptr);
}

TEST(ProcessGroup, ALateRankIsNamedWithTheTimeoutThatWasOver) {
  std::promise<void> gone;
  const auto thrown = run_ranks({0, 1}, 2, [&](const Resolution& resolution) {
    ProcessGroupOptions options = start_up_within(milliseconds(20000));
    options.collective_timeout = milliseconds(2000);
    ProcessGroup group = make_process_group(resolution, kEmptyEnv, options);
    if (group.rank() == 1) {
      gone.get_future().wait_for(milliseconds(20000));
      return;
    }
    try {
      group.shutdown();
    } catch (const Error&) {
      gone.set_value();
      throw;
    }
  });
  EXPECT_EQ(thrown[1], nullptr);
  EXPECT_EQ(error_of(thrown[0]).code(), ErrorCode::deadline_exceeded);
  EXPECT_THAT(error_of(thrown[0]).found(), HasSubstr("rank 1 of the launch did not reach a "
                                                     "barrier of 2 ranks within 2000 ms"));
}

TEST(ProcessGroup, TheRanksThatDoNotCallAreAbsent) {
  std::array<std::vector<int>, 4> absent;
  std::atomic<int> asked{0};
  const auto thrown = run_ranks({0, 1, 2, 3}, 4, [&](const Resolution& me) {
    ProcessGroup group = make_process_group(me, kEmptyEnv, start_up_within(milliseconds(20000)));
    const int rank = me.placement.rank;
    if (rank % 2 == 0) {
      absent[static_cast<std::size_t>(rank)] = group.absent_ranks(milliseconds(1500));
      ++asked;
    } else {
      while (asked < 2) std::this_thread::sleep_for(milliseconds(10));
    }
    group.barrier();
  });
  for (const auto& one : thrown) EXPECT_EQ(one, nullptr);
  EXPECT_THAT(absent[0], testing::ElementsAre(1, 3));
  EXPECT_THAT(absent[2], testing::ElementsAre(1, 3));
}

TEST(ProcessGroup, RankZeroIsAbsentWhereItsStoreIsGone) {
  std::vector<int> absent;
  std::promise<void> gone;
  run_ranks({0, 1}, 2, [&](const Resolution& me) {
    std::optional<ProcessGroup> group =
        make_process_group(me, kEmptyEnv, start_up_within(milliseconds(20000)));
    if (me.placement.rank == 0) {
      group.reset();
      gone.set_value();
      return;
    }
    gone.get_future().wait();
    absent = group->absent_ranks(milliseconds(200));
  });
  EXPECT_THAT(absent, testing::ElementsAre(0));
}

TEST(ProcessGroup, APipeThatBreaksIsNoEndOfTheProcessButAHandlerStays) {
  const auto alone_under = [](void (*handler)(int)) {
    signal(SIGPIPE, handler);
    run_ranks({0}, 1, [](const Resolution& me) {
      make_process_group(me, kEmptyEnv, start_up_within(milliseconds(20000)));
    });
    return signal(SIGPIPE, SIG_DFL);
  };
  EXPECT_EQ(alone_under(SIG_DFL), SIG_IGN);
  void (*const own)(int) = [](int) {};
  EXPECT_EQ(alone_under(own), own);
}

TEST(ProcessGroup, WhatOneRankSeesIsTheFirstAccountOfAll) {
  std::array<std::string, 3> accounts;
  std::atomic<int> asked{0};
  const auto thrown = run_ranks({0, 1, 2}, 3, [&](const Resolution& me) {
    ProcessGroup group = make_process_group(me, kEmptyEnv, start_up_within(milliseconds(20000)));
    const int rank = me.placement.rank;
    const auto look = [&, looks = 0]() mutable {
      asked += ++looks == 1;
      return rank == 1 && asked == 3 ? std::string("rank 7 has left\n") : std::string();
    };
    accounts.at(static_cast<std::size_t>(rank)) = group.first_account(look, milliseconds(20000));
    group.barrier();
  });
  for (const auto& one : thrown) EXPECT_EQ(one, nullptr);
  EXPECT_THAT(accounts, testing::Each("rank 7 has left\n"));
}

TEST(ProcessGroup, NobodysAccountAndALostStoreEndInTime) {
  std::array<std::string, 2> accounts{"none", "none"};
  std::promise<void> gone;
  run_ranks({0, 1}, 2, [&](const Resolution& me) {
    std::optional<ProcessGroup> group =
        make_process_group(me, kEmptyEnv, start_up_within(milliseconds(20000)));
    if (me.placement.rank == 0) {
      accounts[0] = group->first_account([] { return std::string(); }, milliseconds(100));
      group.reset();
      gone.set_value();
      return;
    }
    gone.get_future().wait();
    int looks = 0;
    accounts[1] = group->first_account(
        [&] { return ++looks < 5 ? std::string() : std::string("rank 0 has left"); },
        milliseconds(20000));
  });
  EXPECT_EQ(accounts[0], "");
  EXPECT_EQ(accounts[1], "rank 0 has left");
}

/// An unauthenticated peer that connects to the port, sends the start of a request and stays.
class Stranger {
 public:
  explicit Stranger(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 1000; ++i) {
      if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        break;
      std::this_thread::sleep_for(milliseconds(5));
    }
    const char query = 2;
    EXPECT_EQ(::send(socket_, &query, 1, MSG_NOSIGNAL), 1);
    std::this_thread::sleep_for(milliseconds(100));  // until the store waits for the rest
  }
  ~Stranger() { ::close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

 private:
  int socket_;
};

TEST(ProcessGroup, AStrangerHoldsUpNeitherTheStartNorTheEnd) {
  std::optional<Stranger> stranger;
  const auto start = std::chrono::steady_clock::now();
  const auto thrown = run_ranks({0, 1}, 2, [&](const Resolution& resolution) {
    if (resolution.placement.rank == 1) stranger.emplace(*resolution.master_port);
    ProcessGroup group =
        make_process_group(resolution, kEmptyEnv, start_up_within(milliseconds(20000)));
    group.shutdown();
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  for (const auto& one : thrown) EXPECT_EQ(one, nullptr);
}

TEST(ProcessGroup, WithoutASecretRankZeroIsWarned) {
  const auto thrown = run_ranks({0, 1}, 2, [](const Resolution& resolution) {
    ProcessGroup group =
        make_process_group(resolution, kEmptyEnv, start_up_within(milliseconds(20000)));
    // munged may run on this host.
    const bool is_proved = group.description().find("authenticated by MUNGE") != std::string::npos;
    EXPECT_TRUE(is_proved ||
                group.description().find("authenticated by no secret") != std::string::npos)
        << group.description();
    EXPECT_EQ(group.warning().empty(), is_proved || resolution.placement.rank != 0);
    group.shutdown();
  });
  for (const auto& one : thrown) EXPECT_EQ(one, nullptr);
}

// LibTorch's own store, which a peer that connects and stays blocks, at the end, too.
TEST(ProcessGroup, AStrangerAtTheTcpStoreDoesNotHoldTheEnd) {
  std::optional<Stranger> stranger;
  std::promise<void> rank_0_has_started;  // which needs the store until then
  const auto thrown = run_ranks({0, 1}, 2, [&](const Resolution& resolution) {
    ProcessGroupOptions options = start_up_within(milliseconds(20000));
    options.store = StoreKind::tcp;
    ProcessGroup group = make_process_group(resolution, kEmptyEnv, options);
    const std::string& place = group.description();
    EXPECT_THAT(place, HasSubstr("tcp store at 127.0.0.1:"));
    if (group.rank() == 0) {
      rank_0_has_started.set_value();
    } else {
      rank_0_has_started.get_future().wait_for(std::chrono::seconds(20));
      stranger.emplace(std::stoi(place.substr(place.rfind(':') + 1)));
    }
    const auto start = std::chrono::steady_clock::now();
    group.shutdown();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  });
  for (const auto& one : thrown) EXPECT_EQ(one, nullptr);
}

TEST(ProcessGroup, ARankThatHangsNeitherHoldsABarrierNorTheDestructor) {
  std::promise<void> gone;
  std::future_status rank_zero = std::future_status::timeout;
  const auto thrown = run_ranks({0, 1}, 2, [&](const Resolution& resolution) {
    std::optional<ProcessGroup> group =
        make_process_group(resolution, kEmptyEnv, start_up_within(milliseconds(20000)));
    if (group->rank() == 1) {
      rank_zero = gone.get_future().wait_for(milliseconds(20000));
      return;
    }
    try {
      group->barrier(milliseconds(200));
    } catch (const Error&) {
      group.reset();
      gone.set_value();
      throw;
    }
  });
  EXPECT_EQ(error_of(thrown[0]).code(), ErrorCode::deadline_exceeded);
  EXPECT_EQ(rank_zero, std::future_status::ready);
}

}  // namespace
}  // namespace hpcboot
