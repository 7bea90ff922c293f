// A step of training with an optimizer of its own on every rank (DDP), with one whose state is
// divided among the ranks (ZeRO-1), and with gradients (ZeRO-2) and weights (ZeRO-3) divided as
// well, in turn.
//     OMP_NUM_THREADS=1 mpirun -np 4 build/bench/sharding [STEPS [MODEL]]
// bench/peers/sharding.py compares it with PyTorch.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpcboot/bootstrap.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/fully_shard.hpp"
#include "hpcboot/torch/sharded_optimizer.hpp"
#include "models/model.hpp"

namespace {

using Ddp = hpcboot::DistributedDataParallel<std::shared_ptr<hpcboot::models::Model>>;

std::unique_ptr<torch::optim::Optimizer> adam(const hpcboot::ShardedOptimizer::Groups& groups) {
  return std::make_unique<torch::optim::Adam>(groups, torch::optim::AdamOptions(1e-3));
}

/// A model that is trained in one of four ways.
class Training {
 public:
  /// @param zero 0: DDP
  Training(const std::string& name, hpcboot::ProcessGroup& world, int zero)
      : model_(hpcboot::models::make_model(name)) {
    for (const torch::Tensor& parameter : model_->parameters()) {
      whole_megabytes_ += static_cast<double>(parameter.nbytes()) / 1e6;
    }
    if (zero >= 2) {
      hpcboot::FullyShardOptions options;
      options.reshard_after_forward = zero == 3;
      sharded_ = hpcboot::fully_shard(model_, world, options);
      optimizer_ = std::make_unique<hpcboot::ShardedOptimizer>(*sharded_, adam);
      return;
    }
    ddp_.emplace(model_, world);
    if (zero == 1) {
      optimizer_ = std::make_unique<hpcboot::ShardedOptimizer>(model_->parameters(), world, adam);
    } else {
      optimizer_ = adam({torch::optim::OptimizerParamGroup(model_->parameters())});
    }
  }

  /// @return seconds of the whole step, and of the optimizer's part
  std::pair<double, double> step(const torch::Tensor& images, const torch::Tensor& labels) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    if (sharded_) {
      sharded_->zero_grad(/*set_to_none=*/true);
    } else {
      model_->zero_grad(/*set_to_none=*/true);
    }
    const auto scores = sharded_ ? sharded_->forward(images) : ddp_->forward(images);
    torch::cross_entropy_loss(scores, labels).backward();
    const auto update = Clock::now();
    optimizer_->step();
    const auto end = Clock::now();
    return {std::chrono::duration<double>(end - begin).count(),
            std::chrono::duration<double>(end - update).count()};
  }

  /// Between steps: weights and Adam's averages.
  double state_megabytes() const {
    const double weights =
        sharded_ ? static_cast<double>(sharded_->shard_bytes()) / 1e6 : whole_megabytes_;
    const auto* own = dynamic_cast<const hpcboot::ShardedOptimizer*>(optimizer_.get());
    return weights +
           (own != nullptr ? static_cast<double>(own->state_bytes()) / 1e6 : 2 * whole_megabytes_);
  }

 private:
  std::shared_ptr<hpcboot::models::Model> model_;
  double whole_megabytes_ = 0;
  std::optional<Ddp> ddp_;
  std::shared_ptr<hpcboot::ShardUnitOf<hpcboot::models::Model>> sharded_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
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
  std::vector<std::unique_ptr<Training>> trainings;
  for (int zero = 0; zero <= 3; ++zero) {
    torch::manual_seed(1);
    trainings.push_back(std::make_unique<Training>(model, world, zero));
  }
  const torch::Tensor images = torch::randn({batch, 1, size, size});
  const torch::Tensor labels = torch::randint(10, {batch}, torch::kLong);
  std::vector<Row> rows(trainings.size());
  for (int step = -2; step < steps; ++step) {  // two to warm up
    for (std::size_t i = 0; i < trainings.size(); ++i) {
      const auto [seconds, update] = trainings[i]->step(images, labels);
      if (step < 0) continue;
      rows[i].steps.push_back(seconds);
      rows[i].updates.push_back(update);
    }
  }
  if (world.rank() != 0) return;
  const double reference = median(rows[0].steps);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name = i == 0 ? "DDP" : "ZeRO-" + std::to_string(i);
    std::printf("%-9s %-7s %9.1f ms %9.1f ms %8.2f %9.2f MB\n", model.c_str(), name.c_str(),
                1e3 * median(rows[i].steps), 1e3 * median(rows[i].updates),
                median(rows[i].steps) / reference, trainings[i]->state_megabytes());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20;
  const std::string only = argc > 2 ? argv[2] : "";
  const auto env = hpcboot::Env::from_process();
  auto world =
      hpcboot::make_process_group(hpcboot::resolve(env, hpcboot::Facts::of_this_process(env)), env);
  if (world.rank() == 0) {
    std::printf("%d ranks, median of %d steps, Adam, LibTorch %s\n", world.world_size(), steps,
                TORCH_VERSION);
    std::printf("%-9s %-7s %12s %12s %8s %12s\n", "model", "", "step", "update", "ratio", "state");
  }
  if (only.empty() || only == "mnistnet") compare("mnistnet", 28, 32, world, steps);
  if (only.empty() || only == "resnet50") compare("resnet50", 64, 4, world, steps);
  world.shutdown();
  return 0;
} catch (const hpcboot::Error& error) {
  std::fputs(hpcboot::format_error("sharding", error).c_str(), stderr);
  return error.exit_code();
}
