// Rows of trainer/ddp.md: DistributedDataParallel computes what PyTorch's does. record.py has the
// same scenarios.
#include <gtest/gtest.h>
#include <torch/nn/modules/embedding.h>

#include <array>

#include "hpcboot/torch/collectives.hpp"
#include "torch/pytorch/models.hpp"
#include "torch/pytorch/recorded.hpp"

namespace hpcboot::pytorch {
namespace {

Figures plain_training(const DistributedDataParallelOptions& options = {}) {
  auto ddp = wrap(std::make_shared<Net>(), options);
  return train(*ddp.module(), [&](int step) { return ddp.forward(batch(step)).square().mean(); });
}

RECORDED_TEST(Training) {
  expect_recorded("training", plain_training());
}

RECORDED_TEST(SmallBuckets) {
  DistributedDataParallelOptions options;
  options.bucket_cap_mb = options.first_bucket_mb = 0.00005;
  expect_recorded("small_buckets", plain_training(options));
}

RECORDED_TEST(GradientAsBucketView) {
  DistributedDataParallelOptions options;
  options.gradient_as_bucket_view = true;
  options.bucket_cap_mb = 0.00005;
  expect_recorded("gradient_as_bucket_view", plain_training(options));
}

RECORDED_TEST(Fp16Compression) {
  DistributedDataParallelOptions options;
  options.communication_hook = compression_hook(at::kHalf);
  const Figures found = plain_training(options);
  expect_recorded("fp16_compression", found, 1e-4);
}

RECORDED_TEST(NoSync) {
  auto ddp = wrap(std::make_shared<Net>());
  expect_recorded("no_sync", train(*ddp.module(), [&](int step) {
                    {
                      const auto guard = ddp.no_sync();
                      (ddp.forward(batch(step, 1)).square().mean() / 2).backward();
                    }
                    return ddp.forward(batch(step)).square().mean() / 2;
                  }));
}

RECORDED_TEST(StaticGraph) {
  DistributedDataParallelOptions options;
  options.static_graph = true;
  auto ddp = wrap(std::make_shared<Heads>(), options);
  expect_recorded("static_graph", train(*ddp.module(), [&](int step) {
                    return ddp.forward(batch(step), std::vector<int>{0, 1, 0}).square().mean();
                  }));
}

RECORDED_TEST(FindUnusedAnyPattern) {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  auto ddp = wrap(std::make_shared<Heads>(), options);
  const auto used = [](int step) -> std::vector<int> {
    if (step == 1) return {world->rank() % 2};
    if (step == 2) return {0, 1, 2};
    return {(step + world->rank()) % 3};
  };
  expect_recorded("find_unused_any_pattern", train(*ddp.module(), [&](int step) {
                    return ddp.forward(batch(step), used(step)).square().mean();
                  }));
}

RECORDED_TEST(IgnoredParameters) {
  struct Partly : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) {
      return shared->forward(x) * buffer + own->forward(x) + own_buffer;
    }
    torch::nn::Linear shared = register_module("shared", torch::nn::Linear(4, 2));
    torch::nn::Linear own = register_module("own", torch::nn::Linear(4, 2));
    torch::Tensor own_buffer =
        register_buffer("own_buffer", torch::full({2}, static_cast<float>(world->rank())));
    torch::Tensor buffer =
        register_buffer("buffer", torch::full({2}, static_cast<float>(world->rank() + 1)));
  };
  DistributedDataParallelOptions options;
  options.ignored_parameters = {"own.weight", "own.bias", "own_buffer"};
  auto ddp = wrap(std::make_shared<Partly>(), options);
  Partly& model = *ddp.module();
  Figures found = train(model, [&](int step) { return ddp.forward(batch(step)).square().mean(); });
  found["parameters"] = values(model.shared->parameters());
  found["own"] = of_all_ranks({model.own->weight, model.own->bias, model.own_buffer, model.buffer});
  expect_recorded("ignored_parameters", found);
}

RECORDED_TEST(SparseGradients) {
  struct Words : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& words) {
      return layer->forward(table->forward(words));
    }
    torch::nn::Embedding table = register_module(
        "table", torch::nn::Embedding(torch::nn::EmbeddingOptions(10, 3).sparse(true)));
    torch::nn::Linear layer = register_module("layer", torch::nn::Linear(3, 2));
  };
  auto ddp = wrap(std::make_shared<Words>());
  const int rank = world->rank();
  expect_recorded("sparse_gradients", train(*ddp.module(), [&](int step) {
                    const auto words = torch::tensor({rank, rank + 1, 7, 7, step}, at::kLong);
                    return ddp.forward(words).square().mean();
                  }));
}

RECORDED_TEST(MixedTypes) {
  struct Mixed : torch::nn::Module {
    Mixed() { double_->to(at::kDouble); }
    torch::Tensor forward(const torch::Tensor& x) {
      return double_->forward(single->forward(x).to(at::kDouble));
    }
    torch::nn::Linear single = register_module("single", torch::nn::Linear(4, 3));
    torch::nn::Linear double_ = register_module("double_", torch::nn::Linear(3, 2));
  };
  auto ddp = wrap(std::make_shared<Mixed>());
  expect_recorded("mixed_types", train(*ddp.module(), [&](int step) {
                    return ddp.forward(batch(step)).square().mean();
                  }));
}

Figures tied_training(bool find_unused) {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = find_unused;
  auto ddp = wrap(std::make_shared<Tied>(), options);
  return train(*ddp.module(), [&](int step) { return ddp.forward(batch(step)).square().mean(); });
}

RECORDED_TEST(SharedParameters) {
  expect_recorded("shared_parameters", tied_training(false));
  expect_recorded("shared_parameters_find_unused", tied_training(true));
}

RECORDED_TEST(FrozenBeforeWrapping) {
  auto model = std::make_shared<Net>();
  for (torch::Tensor& parameter : model->first->parameters()) parameter.set_requires_grad(false);
  auto ddp = wrap(model);
  Figures found = train(*model, [&](int step) { return ddp.forward(batch(step)).square().mean(); });
  found["frozen"] = of_all_ranks(model->first->parameters());
  expect_recorded("frozen_before_wrapping", found);
}

RECORDED_TEST(FrozenAfterWrapping) {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  auto ddp = wrap(std::make_shared<Net>(), options);
  const auto loss_of = [&](int step) { return ddp.forward(batch(step)).square().mean(); };
  Figures found = train(*ddp.module(), loss_of, 0, 2);
  for (torch::Tensor& parameter : ddp.module()->first->parameters()) {
    parameter.set_requires_grad(false);
  }
  const Figures more = train(*ddp.module(), loss_of, 2, 4);
  found["losses"].insert(found["losses"].end(), more.at("losses").begin(), more.at("losses").end());
  found["parameters"] = values(ddp.module()->parameters());
  expect_recorded("frozen_after_wrapping", found);
}

RECORDED_TEST(BatchesOfDifferentSize) {
  auto ddp = wrap(std::make_shared<Net>());
  const std::array<std::int64_t, 4> rows{3, 0, 1, 2};
  expect_recorded("batches_of_different_size", train(*ddp.module(), [&](int step) {
                    const auto mine = rows.at(static_cast<std::size_t>(world->rank()));
                    return ddp.forward(batch(step).narrow(0, 0, mine)).square().sum();
                  }));
}

Figures normed_training(DistributedDataParallel<std::shared_ptr<Normed>>& ddp) {
  Figures found = train(*ddp.module(),
                        [&](int step) { return (ddp.forward(batch(step)) - 1).square().mean(); });
  found["buffers"] = of_all_ranks(ddp.module()->buffers());
  return found;
}

RECORDED_TEST(Buffers) {
  auto ddp = wrap(std::make_shared<Normed>());
  expect_recorded("buffers", normed_training(ddp));
  DistributedDataParallelOptions options;
  options.broadcast_buffers = false;
  auto own = wrap(std::make_shared<Normed>(), options);
  expect_recorded("buffers_of_each_rank", normed_training(own));
}

/// The other ranks evaluate with their own statistics, PyTorch's with rank 0's.
RECORDED_TEST(EvalMode) {
  auto ddp = wrap(std::make_shared<Normed>());
  Figures found = normed_training(ddp);
  ddp.module()->eval();
  {
    const torch::NoGradGuard no_grad;
    torch::Tensor output = ddp.forward(filled({3, 4}, 7));
    // No rank waits for another one.
    if (world->rank() == 0) ddp.forward(filled({3, 4}, 7));
    broadcast(*world, output).wait();
    found["output"] = values({output});
  }
  ddp.module()->train();
  const Figures more = train(
      *ddp.module(), [&](int step) { return (ddp.forward(batch(step)) - 1).square().mean(); });
  found["more_losses"] = more.at("losses");
  expect_recorded("eval_mode", found);
}

}  // namespace
}  // namespace hpcboot::pytorch
