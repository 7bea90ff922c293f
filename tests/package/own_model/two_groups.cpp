#include <torch/torch.h>

#include <hpcboot/bootstrap.hpp>
#include <hpcboot/torch/collectives.hpp>
#include <hpcboot/torch/distributed_data_parallel.hpp>
#include <iostream>

template <typename Model>
double train(Model model, hpcboot::ProcessGroup& group) {  // learns the sum of four numbers
  hpcboot::DistributedDataParallel ddp(std::move(model), group);
  torch::optim::Adam optimizer(ddp.module()->parameters(), 0.02);
  double loss = 0;
  for (int step = 0; step < 300; ++step) {
    const auto x = torch::randn({16, 4});
    const auto error = torch::mse_loss(ddp.forward(x), x.sum(1, true));
    optimizer.zero_grad();
    error.backward();
    optimizer.step();
    loss = error.template item<double>();
  }
  return loss;
}

int main() try {
  const auto env = hpcboot::Env::from_process();
  auto world =
      hpcboot::make_process_group(hpcboot::resolve(env, hpcboot::Facts::of_this_process(env)), env);
  const bool first_half = 2 * world.rank() < world.world_size();
  auto group = world.split(first_half ? 0 : 1);
  torch::nn::Sequential wide(torch::nn::Linear(4, 32), torch::nn::ReLU(), torch::nn::Linear(32, 1));
  const double loss = first_half ? train(torch::nn::Linear(4, 1), group) : train(wide, group);
  group.shutdown();
  const auto losses = hpcboot::all_gather(world, torch::tensor(loss)).wait();  // of all ranks
  if (world.rank() == 0) std::cout << "losses:\n" << torch::stack(losses) << "\n";
  world.shutdown();
  return loss < 0.2 ? 0 : 1;
} catch (const hpcboot::Error& error) {
  std::cerr << hpcboot::format_error("two_groups", error);
  return error.exit_code();
}
