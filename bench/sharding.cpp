// A step of training with an optimizer of its own on every rank (DDP), and with one whose state is
// divided among the ranks (ZeRO-1), in turn.
//     OMP_NUM_THREADS=1 mpirun -np 4 build/bench/sharding [STEPS]
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hpcboot/bootstrap.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/sharded_optimizer.hpp"
#include "models/model.hpp"

namespace {

using Ddp = hpcboot::DistributedDataParallel<std::shared_ptr<hpcboot::models::Model>>;

std::unique_ptr<torch::optim::Optimizer> adam(const hpcboot::ShardedOptimizer::Groups& groups) {
  return std::make_unique<torch::optim::Adam>(groups, torch::optim::AdamOptions(1e-3));
}

struct Training {
  Training(const std::string& model, hpcboot::ProcessGroup& world, bool is_sharded)
      : ddp(hpcboot::models::make_model(model), world) {
    const auto parameters = ddp.module()->parameters();
    if (is_sharded) {
      optimizer = std::make_unique<hpcboot::ShardedOptimizer>(parameters, world, adam);
    } else {
      optimizer = adam({torch::optim::OptimizerParamGroup(parameters)});
    }
  }

  /// @return seconds of the whole step, and of the optimizer's part
  std::pair<double, double> step(const torch::Tensor& images, const torch::Tensor& labels) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    ddp.module()->zero_grad();
    torch::cross_entropy_loss(ddp.forward(images), labels).backward();
    const auto update = Clock::now();
    optimizer->step();
    const auto end = Clock::now();
    return {std::chrono::duration<double>(end - begin).count(),
            std::chrono::duration<double>(end - update).count()};
  }

  double state_megabytes() const {
    if (const auto* sharded = dynamic_cast<hpcboot::ShardedOptimizer*>(optimizer.get())) {
      return static_cast<double>(sharded->state_bytes()) / 1e6;
    }
    double bytes = 0;
    for (const torch::Tensor& parameter : ddp.module()->parameters()) {
      bytes += 2 * static_cast<double>(parameter.nbytes());
    }
    return bytes / 1e6;
  }

  Ddp ddp;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Row {
  std::vector<double> steps, updates;
};

void compare(const std::string& model, std::int64_t size, std::int64_t batch,
             hpcboot::ProcessGroup& world, int steps) {
  torch::manual_seed(1);
  Training whole(model, world, false), sharded(model, world, true);
  const torch::Tensor images = torch::randn({batch, 1, size, size});
  const torch::Tensor labels = torch::randint(10, {batch}, torch::kLong);
  Row rows[2];
  for (int step = -2; step < steps; ++step) {  // two to warm up
    for (const bool is_sharded : {false, true}) {
      const auto [seconds, update] = (is_sharded ? sharded : whole).step(images, labels);
      if (step < 0) continue;
      rows[is_sharded ? 1 : 0].steps.push_back(seconds);
      rows[is_sharded ? 1 : 0].updates.push_back(update);
    }
  }
  if (world.rank() != 0) return;
  const double reference = median(rows[0].steps);
  for (const bool is_sharded : {false, true}) {
    const Row& row = rows[is_sharded ? 1 : 0];
    std::printf("%-9s %-7s %9.1f ms %9.1f ms %8.2f %9.2f MB\n", model.c_str(),
                is_sharded ? "ZeRO-1" : "DDP", 1e3 * median(row.steps), 1e3 * median(row.updates),
                median(row.steps) / reference, (is_sharded ? sharded : whole).state_megabytes());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20;
  const auto env = hpcboot::Env::from_process();
  auto world =
      hpcboot::make_process_group(hpcboot::resolve(env, hpcboot::Facts::of_this_process(env)), env);
  if (world.rank() == 0) {
    std::printf("%d ranks, median of %d steps, Adam\n", world.world_size(), steps);
    std::printf("%-9s %-7s %12s %12s %8s %12s\n", "model", "", "step", "update", "ratio", "state");
  }
  compare("mnistnet", 28, 32, world, steps);
  compare("resnet50", 64, 4, world, steps);
  world.shutdown();
  return 0;
} catch (const hpcboot::Error& error) {
  std::fputs(hpcboot::format_error("sharding", error).c_str(), stderr);
  return error.exit_code();
}
