#include <torch/torch.h>

#include <hpcboot/bootstrap.hpp>
#include <hpcboot/torch/distributed_data_parallel.hpp>
#include <iostream>

int main() try {
  const auto env = hpcboot::Env::from_process();  // of mpirun, srun, torchrun or none
  const auto me = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
  auto group = hpcboot::make_process_group(me, env);
  hpcboot::DistributedDataParallel ddp(torch::nn::Linear(4, 1), group);  // any module
  torch::optim::SGD optimizer(ddp.module()->parameters(), 0.05);         // after the wrapper
  double loss = 0;
  for (int step = 0; step < 200; ++step) {
    const auto x = torch::randn({16, 4});  // this rank's part of the batch
    const auto error = torch::mse_loss(ddp.forward(x), x.sum(1, true));
    optimizer.zero_grad();
    error.backward();  // gradients are averaged over the ranks meanwhile
    optimizer.step();
    loss = error.item<double>();
  }
  group.shutdown();
  return loss < 0.01 ? 0 : 1;
} catch (const hpcboot::Error& error) {  // such as a rank that is gone
  std::cerr << hpcboot::format_error("example", error);
  return error.exit_code();
}
