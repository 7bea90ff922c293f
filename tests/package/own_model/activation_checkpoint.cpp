#include <torch/torch.h>

#include <hpcboot/torch/activation_checkpoint.hpp>

struct BlockImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return x + linear->forward(x).tanh(); }
  torch::nn::Linear linear = register_module("linear", torch::nn::Linear(64, 64));
};
TORCH_MODULE(Block);

int main() {
  torch::nn::Sequential net(torch::nn::Linear(4, 64));
  for (int i = 0; i < 8; ++i) net->push_back(hpcboot::checkpointed(Block()));
  net->push_back(torch::nn::Linear(64, 1));
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(0.003));
  double loss = 0;
  for (int step = 0; step < 200; ++step) {
    const auto x = torch::randn({16, 4});
    const auto error = torch::mse_loss(net->forward(x), x.sum(1, true));
    optimizer.zero_grad();
    error.backward();
    optimizer.step();
    loss = error.item<double>();
  }
  return loss < 0.1 ? 0 : 1;
}
