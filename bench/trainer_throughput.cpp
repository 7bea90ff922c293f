// Training steps of both models in one process: images/s of forward, backward and Adam, plain and
// inside DistributedDataParallel. OMP_NUM_THREADS sets the number of threads.
#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <cstdint>

#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "models/model.hpp"

namespace {

template <typename Forward>
void train(benchmark::State& state, hpcboot::models::Model& model, Forward forward) {
  const std::int64_t batch = state.range(0);
  const std::int64_t image_size = state.range(1);
  const torch::Tensor images = torch::randn({batch, 1, image_size, image_size});
  const torch::Tensor labels = torch::randint(10, {batch}, torch::kLong);
  torch::optim::Adam optimizer(model.parameters(), 1e-4);
  const auto step = [&] {
    optimizer.zero_grad();
    torch::cross_entropy_loss(forward(images), labels).backward();
    optimizer.step();
  };
  step();  // allocates gradients and the optimizer's state
  for (auto _ : state) step();
  state.SetItemsProcessed(state.iterations() * batch);
}

void plain(benchmark::State& state, const char* name) {
  torch::manual_seed(1234);
  const auto model = hpcboot::models::make_model(name);
  train(state, *model, [&](const torch::Tensor& images) { return model->forward(images); });
}

void ddp(benchmark::State& state, const char* name) {
  torch::manual_seed(1234);
  hpcboot::ProcessGroup group = hpcboot::make_process_group(hpcboot::Resolution{}, hpcboot::Env());
  hpcboot::DistributedDataParallel parallel(hpcboot::models::make_model(name), group);
  train(state, *parallel.module(),
        [&](const torch::Tensor& images) { return parallel.forward(images); });
}

}  // namespace

BENCHMARK_CAPTURE(plain, mnistnet, "mnistnet")
    ->Args({64, 28})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ddp, mnistnet, "mnistnet")
    ->Args({64, 28})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plain, resnet50, "resnet50")
    ->Args({8, 128})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ddp, resnet50, "resnet50")
    ->Args({8, 128})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
