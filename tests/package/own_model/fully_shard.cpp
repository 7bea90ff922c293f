#include <torch/torch.h>

#include <hpcboot/bootstrap.hpp>
#include <hpcboot/torch/fully_shard.hpp>
#include <hpcboot/torch/sharded_optimizer.hpp>

struct BlockImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return x + linear->forward(x).tanh(); }
  torch::nn::Linear linear = register_module("linear", torch::nn::Linear(64, 64));
};
TORCH_MODULE(Block);

int main() {
  const auto env = hpcboot::Env::from_process();
  const auto me = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
  auto group = hpcboot::make_process_group(me, env);
  torch::nn::Sequential net(torch::nn::Linear(4, 64));
  for (int i = 0; i < 4; ++i) net->push_back(hpcboot::shard_unit(Block()));
  net->push_back(torch::nn::Linear(64, 1));
  auto model = hpcboot::fully_shard(net, group);
  hpcboot::ShardedOptimizer optimizer(*model, [](auto groups) {
    return std::make_unique<torch::optim::AdamW>(groups, torch::optim::AdamWOptions(0.003));
  });
  double loss = 0;
  for (int step = 0; step < 200; ++step) {
    const auto x = torch::randn({16, 4});
    const auto error = torch::mse_loss(model->forward(x), x.sum(1, true));
    model->zero_grad();
    error.backward();
    model->clip_grad_norm(1);
    optimizer.step();  // on every rank
    loss = error.item<double>();
  }
  const auto parameters = model->gather_parameters();  // on rank 0, whole, by name
  group.shutdown();
  return loss < 0.1 ? 0 : 1;
}
