// Shards and the optimizer's state in host memory, beside a GPU.
#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <memory>
#include <string>

#include "torch/optimizer_state.hpp"
#include "torch/sharded_pair.hpp"

#ifdef HPCBOOT_HAVE_CUDA
#include <chrono>
#include <thread>

#include <c10/cuda/CUDACachingAllocator.h>
#endif

namespace hpcboot {
namespace {

FullyShardOptions offloading() {
  FullyShardOptions options;
  options.offload_to_host = true;
  return options;
}

struct Offload : testing::Test {
  void SetUp() override {
    if (!device.is_cuda()) GTEST_SKIP() << "needs a GPU, and HPCBOOT_TEST_DEVICE=cuda";
  }
};

TEST_F(Offload, ShardsGradientsAndStateAreInPinnedMemory) {
  Pair<Transformer> pair(make_transformer, loss_of_text_at, offloading());
  pair.train(2);
  ASSERT_FALSE(pair.model->shards().empty());
  for (const torch::Tensor& shard : pair.model->shards()) {
    EXPECT_TRUE(shard.is_pinned());
    EXPECT_TRUE(shard.grad().is_pinned());
  }
  for (const auto& [key, state] : pair.sharded->local().state()) {
    const auto fields = *fields_of(*state);
    for (const torch::Tensor* field : fields.tensors) {
      EXPECT_TRUE(!field->defined() || field->is_cpu());
    }
  }
  const auto whole = pair.model->keep_whole();
  for (const torch::Tensor& parameter : pair.model->parameters()) {
    EXPECT_EQ(parameter.device(), device);
  }
}

TEST_F(Offload, StepsUseTheGradientsOfTheirOwnPass) {
  // Copies overlap with what the host does: many large steps, in which a copy that had not ended
  // would change the result.
  const auto make = [] {
    torch::manual_seed(3);
    return here(std::make_shared<Transformer>(256, 4, 20));
  };
  Pair<Transformer> first(make, loss_of_text_at, offloading());
  Pair<Transformer> second(make, loss_of_text_at, offloading());
  for (int step = 0; step < 20; ++step) {
    first.step(step);
    torch::cuda::synchronize();
  }
  second.train(20);
  const auto found = second.model->gather_parameters();
  for (const auto& item : first.model->gather_parameters()) {
    EXPECT_TRUE(found[item.key()].equal(item.value())) << item.key();
  }
}

#ifdef HPCBOOT_HAVE_CUDA

struct Bytes {
  double state = 0;  ///< between steps
  double peak = 0;
};

/// On the GPU, of two steps, beyond what was there before.
Bytes bytes_of(const FullyShardOptions& options) {
  namespace memory = c10::cuda::CUDACachingAllocator;
  const auto live = [] { return memory::getDeviceStats(device.index()).allocated_bytes[0]; };
  // Gloo's threads drop the tensors of a transfer a moment after it has ended.
  const auto settled = [&] {
    std::int64_t last = -1;
    for (int equal = 0, readings = 0; equal < 20 && readings < 1000; ++readings) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      const std::int64_t now = live().current;
      equal = now == last ? equal + 1 : 0;
      last = now;
    }
    return static_cast<double>(last);
  };
  const double before = settled();
  const auto model = fully_shard(here(std::make_shared<Transformer>(512, 8, 16)), *world, options);
  ShardedOptimizer optimizer(*model, adam);
  memory::resetPeakStats(device.index());
  const torch::Tensor text = here(torch::arange(4, torch::kLong).reshape({1, 4}));
  for (int step = 0; step < 2; ++step) {
    loss_of_text(model->forward(text), text).backward();
    optimizer.step();
    model->zero_grad(/*set_to_none=*/true);
  }
  torch::cuda::synchronize();
  return {settled() - before, static_cast<double>(live().peak) - before};
}

TEST_F(Offload, LeavesTheDeviceWhatIsGathered) {
  bytes_of({});  // the libraries' own memory
  double weights = 0;
  for (const torch::Tensor& one : Transformer(512, 8, 16).parameters()) {
    weights += static_cast<double>(one.nbytes());
  }
  const Bytes plain = bytes_of({});
  const Bytes offloaded = bytes_of(offloading());
  const double state = 3 * weights / world->world_size();
  EXPECT_NEAR(plain.state, state, 0.05 * state);
  EXPECT_LE(offloaded.state, 0.05 * state);
  EXPECT_LE(offloaded.peak, plain.peak - 0.9 * state);
  RecordProperty("bytes", std::to_string(plain.peak) + " in shards, " +
                              std::to_string(offloaded.peak) + " offloaded");
}

#else

TEST_F(Offload, LeavesTheDeviceWhatIsGathered) {
  GTEST_SKIP() << "needs a LibTorch for CUDA";
}

#endif

}  // namespace
}  // namespace hpcboot
