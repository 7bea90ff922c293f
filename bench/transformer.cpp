// Steps of a Transformer on a GPU, on random text; by default with GPT-2's 124 million parameters.
//     build/bench/transformer [--precision fp32|tf32|bf16] [--batch-size N] [--steps N]
//                             [--layers N] [--width N] [--device cuda|cpu] [--cuda-graph]
//                             [--zero 2|3 [--offload]]
// Prints a line of JSON: tokens/s without the first steps, and the last loss.
#include <torch/torch.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hpcboot/bootstrap.hpp"
#include "hpcboot/torch/fully_shard.hpp"
#include "hpcboot/torch/precision.hpp"
#include "hpcboot/torch/sharded_optimizer.hpp"
#include "loop/devices.hpp"
#include "loop/fused_optimizers.hpp"
#include "loop/recorded_pass.hpp"

namespace {

namespace nn = torch::nn;
using hpcboot::Precision;

constexpr std::int64_t kHeadWidth = 64, kLength = 1024, kWords = 50304;
constexpr int kWarmUp = 5;  // steps that are not timed

/// The layer's forward() adds the bias in a kernel of its own, unless the input has two dimensions.
torch::Tensor product(const nn::Linear& layer, const torch::Tensor& input) {
  return torch::linear(input, layer->weight, layer->bias);
}

struct BlockImpl : nn::Module {
  explicit BlockImpl(std::int64_t width)
      : norm1(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})))),
        qkv(register_module("qkv", nn::Linear(width, 3 * width))),
        out(register_module("out", nn::Linear(width, width))),
        norm2(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})))),
        up(register_module("up", nn::Linear(width, 4 * width))),
        down(register_module("down", nn::Linear(4 * width, width))) {}

  torch::Tensor forward(torch::Tensor x) {
    const auto split = product(qkv, norm1->forward(x)).chunk(3, 2);
    const auto heads = [&](const torch::Tensor& part) {
      return part.view({x.size(0), x.size(1), -1, kHeadWidth}).transpose(1, 2);
    };
    const torch::Tensor mixed = at::scaled_dot_product_attention(
        heads(split[0]), heads(split[1]), heads(split[2]), /*attn_mask=*/{}, /*dropout_p=*/0,
        /*is_causal=*/true);
    x = x + product(out, mixed.transpose(1, 2).reshape(x.sizes()));
    return x + product(down, torch::gelu(product(up, norm2->forward(x)), "tanh"));
  }

  nn::LayerNorm norm1;
  nn::Linear qkv, out;
  nn::LayerNorm norm2;
  nn::Linear up, down;
};
TORCH_MODULE(Block);

struct TransformerImpl : nn::Module {
  TransformerImpl(int layers, std::int64_t width)
      : words(register_module("words", nn::Embedding(kWords, width))),
        places(register_module("places", nn::Embedding(kLength, width))),
        blocks(register_module("blocks", nn::Sequential())),
        norm(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})))) {
    for (int i = 0; i < layers; ++i) blocks->push_back(hpcboot::shard_unit(Block(width)));
    nn::init::normal_(words->weight, 0, 0.02);
    nn::init::normal_(places->weight, 0, 0.02);
  }

  torch::Tensor forward(const torch::Tensor& text) {
    const torch::Tensor order = torch::arange(text.size(1), text.options());
    const torch::Tensor x =
        norm->forward(blocks->forward(words->forward(text) + places->forward(order)));
    return torch::linear(x, words->weight);
  }

  nn::Embedding words, places;
  nn::Sequential blocks;
  nn::LayerNorm norm;
};
TORCH_MODULE(Transformer);

struct Options {
  std::string precision = "bf16", device = "cuda";
  int batch = 16, steps = 30, layers = 12, zero = 0;
  std::int64_t width = 768;
  bool graph = false, offload = false;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--cuda-graph" || name == "--offload") {
      (name == "--offload" ? o.offload : o.graph) = true;
      continue;
    }
    if (i + 1 == argc) throw std::invalid_argument("no value for " + name);
    const std::string value = argv[++i];
    if (name == "--precision")
      o.precision = value;
    else if (name == "--device")
      o.device = value;
    else if (name == "--batch-size")
      o.batch = std::stoi(value);
    else if (name == "--steps")
      o.steps = std::stoi(value);
    else if (name == "--layers")
      o.layers = std::stoi(value);
    else if (name == "--width")
      o.width = std::stoll(value);
    else if (name == "--zero")
      o.zero = std::stoi(value);
    else
      throw std::invalid_argument("unknown option " + name);
  }
  if (o.graph && o.zero != 0) throw std::invalid_argument("--cuda-graph is without --zero");
  return o;
}

std::unique_ptr<torch::optim::Optimizer> adamw(const hpcboot::ShardedOptimizer::Groups& groups) {
  return std::make_unique<hpcboot::train::FusedAdamW>(groups, torch::optim::AdamWOptions(1e-4));
}

void measure(const Options& o) {
  const torch::Device device(o.device);
  const Precision precision = hpcboot::precision_of(o.precision);
  if (precision == Precision::fp16) throw std::invalid_argument("fp16 needs a loss scale");
  hpcboot::use_precision(precision, device);
  torch::manual_seed(1);
  Transformer model(o.layers, o.width);
  model->to(device);
  const std::vector<torch::Tensor> parameters = model->parameters();
  std::optional<hpcboot::ProcessGroup> world;
  std::shared_ptr<hpcboot::ShardUnitOf<TransformerImpl>> sharded;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  if (o.zero == 0) {
    optimizer = adamw({torch::optim::OptimizerParamGroup(parameters)});
  } else {
    const auto env = hpcboot::Env::from_process();
    const auto me = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
    hpcboot::ProcessGroupOptions backend;
    backend.backend = device.is_cuda() ? "nccl" : "gloo";
    world = hpcboot::make_process_group(me, env, backend);
    hpcboot::FullyShardOptions sharding;
    sharding.reshard_after_forward = o.zero == 3;
    sharding.offload_to_host = o.offload;
    sharded = hpcboot::fully_shard(model, *world, sharding);
    optimizer = std::make_unique<hpcboot::ShardedOptimizer>(*sharded, adamw);
  }
  const auto pass = [&](const hpcboot::models::Inputs& inputs, const torch::Tensor& next) {
    const torch::Tensor& text = inputs.front();
    torch::Tensor loss;
    {
      const hpcboot::Autocast autocast(precision, device);
      const torch::Tensor scores = sharded ? sharded->forward(text) : model->forward(text);
      loss = nn::functional::cross_entropy(scores.view({-1, kWords}), next.view({-1}));
    }
    loss.backward();
    return loss.detach();
  };
  std::optional<hpcboot::train::RecordedPass> recorded;
  if (o.graph) recorded.emplace(parameters, pass);

  const torch::Tensor text =
      torch::randint(kWords, {o.batch, kLength + 1}, torch::dtype(torch::kInt64).device(device));
  const torch::Tensor shown = text.narrow(1, 0, kLength).contiguous();
  const torch::Tensor next = text.narrow(1, 1, kLength).contiguous();
  auto begin = std::chrono::steady_clock::now();
  torch::Tensor loss;
  for (int step = 0; step < kWarmUp + o.steps; ++step) {
    if (step == kWarmUp) {
      hpcboot::train::wait_for(device);
      begin = std::chrono::steady_clock::now();
    }
    optimizer->zero_grad();
    loss = recorded ? recorded->run(shown, next) : pass(shown, next);
    optimizer->step();
  }
  hpcboot::train::wait_for(device);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("{\"rate\": %.1f, \"loss\": %.4f}\n",
              double(o.steps) * o.batch * double(kLength) / seconds, loss.item<double>());
  if (world) world->shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    measure(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "transformer: %s\n", error.what());
    return 1;
  }
}
