// What hpcboot::estimate says, and what training allocates: live bytes of LibTorch's allocator, in
// the trainer's step.
#include <gmock/gmock.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <memory>

#include "hpcboot/torch/activation_checkpoint.hpp"
#include "hpcboot/torch/estimate.hpp"
#include "models/model.hpp"
#include "support/counted_memory.hpp"

namespace hpcboot {
namespace {

namespace nn = torch::nn;
/// A block of GPT-2, from LibTorch's operators.
struct BlockImpl : nn::Module {
  BlockImpl(std::int64_t hidden, std::int64_t count) : heads(count) {
    norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({hidden})));
    qkv = register_module("qkv", nn::Linear(hidden, 3 * hidden));
    out = register_module("out", nn::Linear(hidden, hidden));
    norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({hidden})));
    up = register_module("up", nn::Linear(hidden, 4 * hidden));
    down = register_module("down", nn::Linear(4 * hidden, hidden));
  }

  torch::Tensor attention(const torch::Tensor& x) {
    const auto batch = x.size(0), tokens = x.size(1), hidden = x.size(2);
    const auto parts =
        qkv(x).view({batch, tokens, 3, heads, hidden / heads}).permute({2, 0, 3, 1, 4});
    const auto mask = torch::ones({tokens, tokens}, torch::kBool).triu(1);
    auto scores = parts[0].matmul(parts[1].transpose(-2, -1));
    scores = scores.div_(std::sqrt(static_cast<double>(hidden / heads))).masked_fill_(mask, -1e9);
    return out(
        scores.softmax(-1).matmul(parts[2]).transpose(1, 2).reshape({batch, tokens, hidden}));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = x + attention(norm1(x));
    return x + down(torch::gelu(up(norm2(x))));
  }

  std::int64_t heads;
  nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  nn::Linear qkv{nullptr}, out{nullptr}, up{nullptr}, down{nullptr};
};
TORCH_MODULE(Block);

struct Gpt : nn::Module {
  explicit Gpt(const estimate::Transformer& shape, bool checkpoints)
      : tokens(register_module("tokens", nn::Embedding(shape.vocabulary, shape.hidden))),
        positions(register_module("positions", nn::Embedding(shape.sequence, shape.hidden))),
        norm(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({shape.hidden})))),
        head(register_module(
            "head", nn::Linear(nn::LinearOptions(shape.hidden, shape.vocabulary).bias(false)))) {
    for (std::int64_t i = 0; i < shape.blocks; ++i) {
      const Block block(shape.hidden, shape.heads);
      if (checkpoints) {
        blocks->push_back(checkpointed(block));
      } else {
        blocks->push_back(block);
      }
    }
    register_module("blocks", blocks);
  }

  torch::Tensor forward(const torch::Tensor& ids) {
    auto x = tokens(ids) + positions(torch::arange(ids.size(1)));
    x = blocks->forward(x);
    return head(norm(x)).flatten(0, 1);
  }

  nn::Embedding tokens, positions;
  nn::Sequential blocks;
  nn::LayerNorm norm;
  nn::Linear head;
};

struct Measured {
  double after_step;  ///< weights, gradients and the optimizer's state
  double peak;
};

template <typename SomeModel>
Measured measure(SomeModel& model, torch::optim::Optimizer& optimizer, const torch::Tensor& inputs,
                 const torch::Tensor& labels, double before) {
  Measured measured{};
  for (int step = 0; step < 2; ++step) {
    model.zero_grad(/*set_to_none=*/true);
    counted_memory::forget_peak();
    nn::functional::cross_entropy(model.forward(inputs), labels).backward();
    measured.peak = static_cast<double>(counted_memory::peak()) - before;
    optimizer.step();
  }
  measured.after_step = static_cast<double>(counted_memory::live()) - before -
                        static_cast<double>(inputs.nbytes() + labels.nbytes());
  return measured;
}

void expect_near(const Measured& measured, const estimate::Memory& memory) {
  SCOPED_TRACE(testing::Message() << "peak of " << measured.peak / 1e6 << " MB, estimated "
                                  << memory.peak / 1e6);
  const double held = memory.weights + memory.gradients + memory.optimizer;
  EXPECT_NEAR(held / measured.after_step, 1, 0.01);
  EXPECT_NEAR(memory.peak / measured.peak, 1, 0.07);
}

void expect_classifier(const char* name, const estimate::Model& estimated, std::int64_t size,
                       std::int64_t batch) {
  const auto before = static_cast<double>(counted_memory::live());
  const auto model = models::make_model(name, {1, 10, size});
  torch::optim::Adam optimizer(model->parameters());
  const auto images = torch::rand({batch, 1, size, size});
  const auto labels = torch::zeros({batch}, torch::kInt64);
  const auto measured = measure(*model, optimizer, images, labels, before);
  expect_near(measured,
              estimate::estimate(estimated, estimate::types_of("fp32"), 2, {}, {batch, 1}).memory);
}

TEST(EstimateMemory, Mnistnet) {
  expect_classifier("mnistnet", estimate::mnistnet(1, 28, 10), 28, 64);
  expect_classifier("mnistnet", estimate::mnistnet(1, 28, 10), 28, 512);
}

TEST(EstimateMemory, ResNet18) {
  expect_classifier("resnet18", estimate::resnet18(1, 64, 10), 64, 4);
  expect_classifier("resnet18", estimate::resnet18(1, 64, 10), 64, 32);
}

TEST(EstimateMemory, ViT) {
  expect_classifier("vit_ti_16", estimate::vit_ti_16(1, 64, 10), 64, 4);
  expect_classifier("vit_ti_16", estimate::vit_ti_16(1, 64, 10), 64, 64);
}

TEST(EstimateMemory, ResNet50) {
  expect_classifier("resnet50", estimate::resnet50(1, 64, 10), 64, 4);
  expect_classifier("resnet50", estimate::resnet50(1, 64, 10), 64, 32);
}

void expect_gpt(std::int64_t blocks, std::int64_t hidden, std::int64_t sequence,
                std::int64_t vocabulary, std::int64_t batch, bool checkpoints = false) {
  estimate::Transformer shape;
  shape.blocks = blocks;
  shape.hidden = hidden;
  shape.heads = 4;
  shape.vocabulary = vocabulary;
  shape.sequence = sequence;
  shape.learned_positions = true;
  const auto before = static_cast<double>(counted_memory::live());
  Gpt model(shape, checkpoints);
  estimate::Layout layout;
  layout.checkpoint = checkpoints;
  torch::optim::Adam optimizer(model.parameters());
  const auto ids = torch::randint(vocabulary, {batch, sequence}, torch::kInt64);
  const auto measured = measure(model, optimizer, ids, ids.flatten(), before);
  expect_near(measured, estimate::estimate(estimate::transformer(shape), estimate::types_of("fp32"),
                                           2, layout, {batch, 1})
                            .memory);
}

TEST(EstimateMemory, Transformer) {
  expect_gpt(4, 128, 128, 1000, 4);
  expect_gpt(2, 256, 64, 5000, 4);
  expect_gpt(6, 64, 256, 500, 2);
}

TEST(EstimateMemory, TransformerWithCheckpointedActivations) {
  expect_gpt(8, 128, 128, 1000, 8, true);
  expect_gpt(12, 64, 256, 500, 4, true);
}

}  // namespace
}  // namespace hpcboot
