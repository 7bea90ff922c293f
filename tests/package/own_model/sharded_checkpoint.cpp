#include <torch/torch.h>

#include <hpcboot/bootstrap.hpp>
#include <hpcboot/torch/fully_shard.hpp>
#include <hpcboot/torch/sharded_checkpoint.hpp>
#include <hpcboot/torch/sharded_optimizer.hpp>

int main(int argc, char** argv) {  // [CHECKPOINT]
  const auto env = hpcboot::Env::from_process();
  const auto me = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
  auto group = hpcboot::make_process_group(me, env);
  auto model = hpcboot::fully_shard(torch::nn::Linear(4, 1), group);
  hpcboot::ShardedOptimizer optimizer(*model, [](auto groups) {
    return std::make_unique<torch::optim::AdamW>(groups, torch::optim::AdamWOptions(0.05));
  });
  int step = 0;
  if (argc > 1) {
    const auto checkpoint = hpcboot::load_sharded(argv[1], *model, &optimizer);
    step = std::stoi(checkpoint.notes.at("step"));
  }
  double loss = 0;
  for (const int end = step + 100; step < end; ++step) {
    const auto x = torch::randn({16, 4});
    const auto error = torch::mse_loss(model->forward(x), x.sum(1, true));
    model->zero_grad();
    error.backward();
    optimizer.step();
    loss = error.item<double>();
  }
  const auto folder = "step_" + std::to_string(step);
  hpcboot::save_sharded(folder, *model, &optimizer, group, {{"step", std::to_string(step)}});
  group.shutdown();
  return argc == 1 || loss < 0.01 ? 0 : 1;
}
