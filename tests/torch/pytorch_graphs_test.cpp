// Rows of trainer/ddp.md on graphs: several passes, double backward, checkpointed segments,
// outputs, autocast. record.py has the same scenarios.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "hpcboot/torch/precision.hpp"
#include "torch/pytorch/models.hpp"
#include "torch/pytorch/recorded.hpp"

namespace hpcboot::pytorch {
namespace {

struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               torch::nn::LinearImpl* layer) {
    context->save_for_backward({x});
    context->saved_data["layer"] = reinterpret_cast<std::int64_t>(layer);
    const torch::NoGradGuard no_grad;
    return layer->forward(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    auto* layer = reinterpret_cast<torch::nn::LinearImpl*>(context->saved_data["layer"].toInt());
    torch::Tensor x = context->get_saved_variables().front().detach().requires_grad_();
    const torch::AutoGradMode grad(true);
    layer->forward(x).backward(gradients.front());
    return {x.grad(), torch::Tensor()};
  }
};

template <typename Module>
torch::Tensor square_loss(DistributedDataParallel<Module>& ddp, int step, int part = 0) {
  return ddp.forward(batch(step, part)).square().mean();
}

}  // namespace

torch::Tensor Segments::checkpointed(torch::nn::LinearImpl& layer, const torch::Tensor& x) {
  return Checkpoint::apply(x, &layer);
}

namespace {

RECORDED_TEST(SeveralForwards) {
  auto ddp = wrap(std::make_shared<Net>());
  expect_recorded("several_forwards", train(*ddp.module(), [&](int step) {
                    return square_loss(ddp, step) + ddp.forward(batch(step, 1)).abs().mean();
                  }));
}

RECORDED_TEST(SeveralForwardsThenBackwards) {
  auto ddp = wrap(std::make_shared<Net>());
  const torch::Tensor first = square_loss(ddp, 0);
  const torch::Tensor second = square_loss(ddp, 0, 1);
  Figures found;
  first.backward();
  found["first"] = of_all_ranks(gradients(*ddp.module()));
  second.backward();
  found["second"] = of_all_ranks(gradients(*ddp.module()));
  expect_recorded("several_forwards_then_backwards", found);
}

RECORDED_TEST(SecondBackward) {
  auto ddp = wrap(std::make_shared<Net>());
  const torch::Tensor loss = square_loss(ddp, 0);
  Figures found;
  loss.backward({}, /*retain_graph=*/true);
  found["first"] = of_all_ranks(gradients(*ddp.module()));
  loss.backward();
  found["second"] = of_all_ranks(gradients(*ddp.module()));
  expect_recorded("second_backward", found);
}

RECORDED_TEST(DoubleBackward) {
  auto ddp = wrap(std::make_shared<Net>());
  expect_recorded("double_backward", train(*ddp.module(), [&](int step) {
                    const torch::Tensor x = batch(step).requires_grad_();
                    const torch::Tensor y = ddp.forward(x);
                    const torch::Tensor slope =
                        torch::autograd::grad({y.sum()}, {x}, {}, {}, /*create_graph=*/true)[0];
                    return y.square().mean() + slope.square().mean();
                  }));
}

RECORDED_TEST(PenaltyOnGradients) {
  auto ddp = wrap(std::make_shared<Net>());
  expect_recorded("penalty_on_gradients", train(*ddp.module(), [&](int step) {
                    torch::Tensor loss = square_loss(ddp, step);
                    for (const torch::Tensor& own : torch::autograd::grad(
                             {loss}, ddp.module()->parameters(), {}, {}, /*create_graph=*/true)) {
                      loss = loss + own.square().sum();
                    }
                    return loss;
                  }));
}

RECORDED_TEST(CheckpointedSegments) {
  auto once = wrap(std::make_shared<Segments>(1));
  expect_recorded("checkpointed_segment",
                  train(*once.module(), [&](int step) { return square_loss(once, step); }));
  DistributedDataParallelOptions options;
  options.static_graph = true;
  auto twice = wrap(std::make_shared<Segments>(2), options);
  expect_recorded("checkpointed_twice_static_graph",
                  train(*twice.module(), [&](int step) { return square_loss(twice, step); }));
}

RECORDED_TEST(OutputsOfAnyStructure) {
  struct Structured : torch::nn::Module {
    Structured() {
      for (int i = 0; i < 4; ++i) {
        layers.push_back(register_module("layer" + std::to_string(i), torch::nn::Linear(4, 2)));
      }
    }
    using Rest = std::pair<std::vector<torch::Tensor>, std::optional<torch::Tensor>>;
    std::tuple<torch::Tensor, std::map<std::string, torch::Tensor>, Rest> forward(
        const torch::Tensor& x) {
      const auto of = [&](std::size_t i) { return layers[i]->forward(x); };
      return {of(0), {{"b", of(1)}}, {{of(2), of(3)}, std::nullopt}};
    }
    std::vector<torch::nn::Linear> layers;
  };
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  auto ddp = wrap(std::make_shared<Structured>(), options);
  expect_recorded("outputs_of_any_structure", train(*ddp.module(), [&](int step) {
                    const auto [a, named, rest] = ddp.forward(batch(step));
                    return (a * named.at("b") + rest.first[0] * rest.first[1]).square().mean();
                  }));
}

RECORDED_TEST(AutocastToBf16) {
  auto ddp = wrap(std::make_shared<Net>());
  const Figures found = train(*ddp.module(), [&](int step) {
    const Autocast autocast(Precision::bf16, at::kCPU);
    return ddp.forward(batch(step)).to(at::kFloat).square().mean();
  });
  // 8 bits, rounded differently by each version of the kernels.
  expect_recorded("autocast", found, 5e-3);
}

RECORDED_TEST(GanPair) {
  auto generator = wrap(std::make_shared<Net>(4, 4));
  auto judge = wrap(std::make_shared<Net>(4, 1));
  Figures found;
  for (int step = 0; step < kSteps; ++step) {
    const torch::Tensor noise = batch(step);
    const torch::Tensor judged = train_step(judge.module()->parameters(), [&] {
      const torch::Tensor fake = generator.forward(noise).detach();
      return (judge.forward(batch(step, 1)) - 1).square().mean() +
             judge.forward(fake).square().mean();
    });
    const torch::Tensor generated = train_step(generator.module()->parameters(), [&] {
      return (judge.forward(generator.forward(noise)) - 1).square().mean();
    });
    found["losses"].push_back(mean_over_ranks(judged));
    found["losses"].push_back(mean_over_ranks(generated));
  }
  found["generator"] = values(generator.module()->parameters());
  found["judge"] = values(judge.module()->parameters());
  expect_recorded("gan_pair", found);
}

RECORDED_TEST(ReWrapped) {
  auto model = std::make_shared<Net>();
  fill(*model);
  using Wrapper = DistributedDataParallel<std::shared_ptr<Net>>;
  std::optional<Wrapper> first;
  Figures found;
  for (int start = 0; start < 3; ++start) {
    std::optional<Wrapper> later;
    std::optional<Wrapper>& ddp = start == 0 ? first : later;
    ddp.emplace(model, *world);
    const Figures more = train(
        *model, [&](int step) { return square_loss(*ddp, step); }, start, start + 2);
    found["losses"].insert(found["losses"].end(), more.at("losses").begin(),
                           more.at("losses").end());
    if (start == 1) first.reset();
  }
  found["parameters"] = values(model->parameters());
  expect_recorded("re_wrapped", found);
}

RECORDED_TEST(ExceptionBetweenForwardAndBackward) {
  auto ddp = wrap(std::make_shared<Net>());
  expect_recorded("exception_between_forward_and_backward", train(*ddp.module(), [&](int step) {
                    try {
                      const torch::Tensor unused = ddp.forward(batch(step, 1));
                      throw std::runtime_error("between forward and backward");
                    } catch (const std::runtime_error&) {
                      return square_loss(ddp, step);
                    }
                  }));
}

RECORDED_TEST(IgnoredOutput) {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  auto ddp = wrap(std::make_shared<Heads>(), options);
  expect_recorded("ignored_output", train(*ddp.module(), [&](int step) {
                    ddp.forward(batch(step, 1), std::vector<int>{1});
                    return ddp.forward(batch(step), std::vector<int>{0, 1}).square().mean();
                  }));
}

}  // namespace
}  // namespace hpcboot::pytorch
