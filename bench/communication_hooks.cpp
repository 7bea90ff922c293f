// Training with each communication hook, on the ranks of a launch: accuracy, bytes and time.
//     OMP_NUM_THREADS=1 mpirun -np 4 build/bench/communication_hooks [EPOCHS]
#include <torch/torch.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/digits.hpp"
#include "hpcboot/bootstrap.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/distributed_sampler.hpp"
#include "hpcboot/torch/post_local_sgd.hpp"
#include "hpcboot/torch/power_sgd.hpp"
#include "models/model.hpp"

namespace {

constexpr std::int64_t kBatch = 64;  // of all ranks
constexpr std::int64_t kLocalStart = 50;

struct Images {
  torch::Tensor pixels;
  torch::Tensor labels;
};

Images draw(hpcboot::data::Split split) {
  hpcboot::data::DigitsOptions options;
  options.train = 6400;
  options.test = 1000;
  hpcboot::data::ImageSet set = hpcboot::data::make_digits(split, options);
  const auto count = static_cast<std::int64_t>(set.labels.size());
  const torch::Tensor pixels =
      torch::from_blob(set.pixels.data(), {count, 1, 28, 28}, torch::kUInt8);
  const torch::Tensor labels = torch::from_blob(set.labels.data(), {count}, torch::kUInt8);
  return {(pixels.to(torch::kFloat) / 255 - 0.13) / 0.31, labels.to(torch::kLong)};
}

struct Way {
  const char* name;
  std::function<std::shared_ptr<hpcboot::CommunicationHook>()> hook;
  bool averages_models = false;
};

/// @return seconds of a step of training
double run(const Way& way, hpcboot::ProcessGroup& world, const Images& train, const Images& test,
           int epochs, std::optional<double> reference) {
  torch::manual_seed(1);
  hpcboot::DistributedDataParallelOptions options;
  options.communication_hook = way.hook();
  hpcboot::DistributedDataParallel ddp(hpcboot::models::make_model("mnistnet"), world, options);
  torch::optim::SGD optimizer(ddp.module()->parameters(),
                              torch::optim::SGDOptions(0.05).momentum(0.9));
  hpcboot::ModelAverager averager(world, {kLocalStart, 4});
  const hpcboot::DistributedSampler sampler(train.labels.size(0), world.world_size(), world.rank());
  std::int64_t steps = 0;
  const std::int64_t before = world.contributed_bytes();
  const auto start = std::chrono::steady_clock::now();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const torch::Tensor indices = torch::tensor(sampler.indices(static_cast<std::uint64_t>(epoch)));
    for (const torch::Tensor& batch : indices.split(kBatch / world.world_size())) {
      optimizer.zero_grad();
      torch::cross_entropy_loss(ddp.forward(train.pixels.index({batch})),
                                train.labels.index({batch}))
          .backward();
      optimizer.step();
      if (way.averages_models) averager.step(ddp.module()->parameters());
      ++steps;
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double step = seconds.count() / static_cast<double>(steps);
  const torch::NoGradGuard no_grad;
  ddp.module()->eval();
  const torch::Tensor right = ddp.module()->forward(test.pixels).argmax(1).eq(test.labels);
  if (world.rank() == 0) {
    std::printf(
        "%-16s %7.2f %% %10.3f MB %8.1f ms %8.2f %9.0f %%\n", way.name,
        100 * right.to(torch::kFloat).mean().item<double>(),
        static_cast<double>(world.contributed_bytes() - before) / 1e6 / static_cast<double>(steps),
        1e3 * step, step / reference.value_or(step), 100 * ddp.statistics().overlap());
  }
  return step;
}

}  // namespace

int main(int argc, char** argv) try {
  const int epochs = argc > 1 ? std::atoi(argv[1]) : 3;
  const auto env = hpcboot::Env::from_process();
  auto world =
      hpcboot::make_process_group(hpcboot::resolve(env, hpcboot::Facts::of_this_process(env)), env);
  auto pair = world.split(world.rank() / 2);
  hpcboot::PowerSgdOptions power;
  power.start_step = kLocalStart;
  hpcboot::PowerSgdOptions power4 = power;
  power4.rank = 4;
  const std::vector<Way> ways{
      {"all-reduce", [] { return hpcboot::all_reduce_hook(); }},
      {"fp16", [] { return hpcboot::compression_hook(at::kHalf); }},
      {"bf16", [] { return hpcboot::compression_hook(at::kBFloat16); }},
      {"PowerSGD rank 1", [&] { return hpcboot::power_sgd_hook(power); }},
      {"PowerSGD rank 4", [&] { return hpcboot::power_sgd_hook(power4); }},
      {"post-local SGD", [&] { return hpcboot::post_local_sgd_hook(pair, kLocalStart); }, true}};
  const Images train = draw(hpcboot::data::Split::train);
  const Images test = draw(hpcboot::data::Split::test);
  if (world.rank() == 0) {
    std::printf("mnistnet, 6400 drawn digits, %d epochs, batch %d, %d ranks\n", epochs,
                static_cast<int>(kBatch), world.world_size());
    std::printf("%-16s %9s %13s %11s %8s %11s\n", "hook", "accuracy", "bytes/step", "step", "ratio",
                "overlap");
  }
  std::optional<double> reference;
  for (const Way& way : ways) {
    const double step = run(way, world, train, test, epochs, reference);
    if (!reference) reference = step;
  }
  pair.shutdown();
  world.shutdown();
  return 0;
} catch (const hpcboot::Error& error) {
  std::fputs(hpcboot::format_error("communication_hooks", error).c_str(), stderr);
  return error.exit_code();
}
