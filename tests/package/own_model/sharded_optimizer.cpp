#include <torch/torch.h>

#include <hpcboot/bootstrap.hpp>
#include <hpcboot/torch/distributed_data_parallel.hpp>
#include <hpcboot/torch/sharded_optimizer.hpp>

int main() {
  const auto env = hpcboot::Env::from_process();
  const auto me = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
  auto group = hpcboot::make_process_group(me, env);
  hpcboot::DistributedDataParallel ddp(torch::nn::Linear(4, 1), group);
  hpcboot::ShardedOptimizer optimizer(ddp.module()->parameters(), group, [](auto groups) {
    return std::make_unique<torch::optim::AdamW>(groups, torch::optim::AdamWOptions(0.05));
  });
  double loss = 0;
  for (int step = 0; step < 200; ++step) {
    const auto x = torch::randn({16, 4});
    const auto error = torch::mse_loss(ddp.forward(x), x.sum(1, true));
    optimizer.zero_grad();
    error.backward();
    optimizer.step();  // on every rank
    loss = error.item<double>();
  }
  group.shutdown();
  return loss < 0.01 ? 0 : 1;
}
