// DistributedDataParallel when a rank throws, dies or hangs: the others get an Error, and do not
// hang.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <future>
#include <stdexcept>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "support/expect_error.hpp"
#include "support/thread_ranks.hpp"

namespace hpcboot {
namespace {

using testing_support::loopback_resolution;
using testing_support::run_ranks;

/// A rank that has done one step, and the loss of the next.
struct Rank {
  explicit Rank(const Resolution& resolution,
                std::chrono::milliseconds timeout = std::chrono::minutes(1))
      : group(make_process_group(resolution, Env(), options_of(timeout))),
        ddp(torch::nn::Linear(3, 2), group) {
    ddp.forward(torch::ones({1, 3})).sum().backward();
    loss = ddp.forward(torch::ones({1, 3})).sum();
  }
  static ProcessGroupOptions options_of(std::chrono::milliseconds timeout) {
    ProcessGroupOptions options;
    options.collective_timeout = timeout;
    return options;
  }

  ProcessGroup group;
  DistributedDataParallel<torch::nn::Linear> ddp;
  torch::Tensor loss;
};

void expect_rethrown(const std::exception_ptr& thrown, ErrorCode code, const std::string& text) {
  ASSERT_NE(thrown, nullptr) << "the backward pass did not fail";
  test::expect_error(
      code, [&] { std::rethrow_exception(thrown); }, text);
}

TEST(LostRanks, ARankThatThrowsBetweenForwardAndBackwardIsALostPeer) {
  const auto thrown = run_ranks({0, 1}, 2, [](const Resolution& resolution) {
    Rank rank(resolution);
    if (rank.group.rank() == 1) throw std::runtime_error("a full disk");
    rank.loss.backward();
  });
  EXPECT_THROW(std::rethrow_exception(thrown[1]), std::runtime_error);
  expect_rethrown(thrown[0], ErrorCode::peer_lost, "in the backward pass");
}

TEST(LostRanks, ARankThatHangsIsADeadlineThatHasPassed) {
  std::promise<void> noticed;
  const auto thrown = run_ranks({0, 1}, 2, [&](const Resolution& resolution) {
    Rank rank(resolution, std::chrono::seconds(2));
    if (rank.group.rank() == 1) {
      noticed.get_future().wait_for(std::chrono::minutes(1));
      return;
    }
    try {
      rank.loss.backward();
    } catch (...) {
      noticed.set_value();
      throw;
    }
  });
  EXPECT_EQ(thrown[1], nullptr);
  expect_rethrown(thrown[0], ErrorCode::deadline_exceeded, "in the backward pass");
}

TEST(LostRanks, ARankThatIsKilledIsALostPeer) {
  const int port = testing_support::free_port();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // should rank 0 not come
    Rank rank(loopback_resolution(1, 2, port));
    raise(SIGKILL);
  }
  Rank rank(loopback_resolution(0, 2, port));
  test::expect_error(
      ErrorCode::peer_lost, [&] { rank.loss.backward(); }, "in the backward pass");
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

// PyTorch leaves the others waiting, unless TORCH_DISTRIBUTED_DEBUG=DETAIL.
TEST(LostRanks, ARankThatDoesNotCallForwardIsADeadlineThatHasPassed) {
  std::promise<void> noticed;
  const auto thrown = run_ranks({0, 1}, 2, [&](const Resolution& resolution) {
    Rank rank(resolution, std::chrono::seconds(2));
    rank.loss.backward();
    if (rank.group.rank() == 1) {
      noticed.get_future().wait_for(std::chrono::minutes(1));
      return;
    }
    try {
      rank.ddp.forward(torch::ones({1, 3})).sum().backward();
    } catch (...) {
      noticed.set_value();
      throw;
    }
  });
  EXPECT_EQ(thrown[1], nullptr);
  expect_rethrown(thrown[0], ErrorCode::deadline_exceeded, "no answer from another rank");
}

}  // namespace
}  // namespace hpcboot
