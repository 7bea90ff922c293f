#include <torch/torch.h>

#include <hpcboot/bootstrap.hpp>
#include <hpcboot/torch/distributed_data_parallel.hpp>
#include <hpcboot/torch/distributed_sampler.hpp>
#include <hpcboot/torch/sync_batch_norm.hpp>
#include <iostream>

struct Bars : torch::nn::Module {  // tells horizontal bars from vertical ones
  Bars() { register_module("layers", layers); }
  torch::Tensor forward(const torch::Tensor& x) { return layers->forward(x).amax({2, 3}); }
  torch::nn::Sequential layers{torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 8, 3).bias(false)),
                               hpcboot::BatchNorm2d(8), torch::nn::ReLU(),
                               torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 2, 3))};
};

int main() try {
  const auto env = hpcboot::Env::from_process();
  auto group =
      hpcboot::make_process_group(hpcboot::resolve(env, hpcboot::Facts::of_this_process(env)), env);
  torch::manual_seed(1);  // the same data set on every rank: 400 noisy bars
  const auto labels = torch::arange(400).remainder(2);
  auto images = 0.3 * torch::randn({400, 1, 8, 8});
  for (int i = 0; i < 400; ++i) images[i][0].select(i % 2, i / 2 % 8) += 1;

  const auto model = std::make_shared<Bars>();
  hpcboot::synchronize_batch_norms(*model, group);
  hpcboot::DistributedDataParallel ddp(model, group);
  torch::optim::Adam optimizer(model->parameters(), 0.02);
  const hpcboot::DistributedSampler sampler(400, group.world_size(), group.rank());
  torch::Tensor loss;
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const auto& batch : torch::tensor(sampler.indices(epoch)).split(32 / group.world_size())) {
      optimizer.zero_grad();
      loss = torch::cross_entropy_loss(ddp.forward(images.index({batch})), labels.index({batch}));
      loss.backward();
      optimizer.step();
    }
  }
  std::cout << "rank " + std::to_string(group.rank()) + " of " +
                   std::to_string(group.world_size()) + ": loss " +
                   std::to_string(loss.item<float>()) + "\n";
  group.shutdown();
  return loss.item<float>() < 0.3 ? 0 : 1;
} catch (const hpcboot::Error& error) {
  std::cerr << hpcboot::format_error("consumer", error);
  return error.exit_code();
}
