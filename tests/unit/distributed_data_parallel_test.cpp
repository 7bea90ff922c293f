// DistributedDataParallel in one process; tests/torch/ has it on the ranks of a launch.
#include "hpcboot/torch/distributed_data_parallel.hpp"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <tuple>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collective_failure.hpp"
#include "models/model.hpp"
#include "support/expect_error.hpp"
#include "support/grouping_locale.hpp"
#include "support/partly_used.hpp"
#include "support/thread_ranks.hpp"

namespace hpcboot {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::PartlyUsed;
using testing_support::run_ranks;

class DistributedDataParallelTest : public testing::Test {
 protected:
  ProcessGroup group_ = make_process_group(Resolution{}, Env());
};

TEST_F(DistributedDataParallelTest, ALoneRankComputesWhatTheModuleDoes) {
  torch::manual_seed(1);
  const auto plain = models::make_model("mnistnet");
  torch::manual_seed(1);
  DistributedDataParallel ddp(models::make_model("mnistnet"), group_);
  const torch::Tensor images = torch::randn({4, 1, 12, 12});
  for (int step = 0; step < 3; ++step) {
    const torch::Tensor expected = plain->forward(images);
    const torch::Tensor output = ddp.forward(images);
    EXPECT_TRUE(output.equal(expected));
    expected.sum().backward();
    output.sum().backward();
  }
  const auto parameters = ddp.module()->named_parameters();
  for (const auto& item : plain->named_parameters()) {
    EXPECT_TRUE(torch::allclose(parameters[item.key()].grad(), item.value().grad())) << item.key();
  }
}

TEST_F(DistributedDataParallelTest, WrapsModuleHoldersAndGradientsAsBucketViews) {
  DistributedDataParallelOptions options;
  options.gradient_as_bucket_view = true;
  DistributedDataParallel ddp(torch::nn::Linear(3, 2), group_, options);
  ddp.forward(torch::ones({1, 3})).sum().backward();
  EXPECT_TRUE(ddp.module()->weight.grad().equal(torch::ones({2, 3})));
}

TEST_F(DistributedDataParallelTest, AnUnusedParameterFailsTheBackwardThatLeftItOut) {
  DistributedDataParallel ddp(std::make_shared<PartlyUsed>(), group_);
  try {
    ddp.forward(torch::ones({1, 3})).sum().backward();
    FAIL() << "the backward pass did not fail";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_model_use);
    EXPECT_THAT(error.found(), HasSubstr("2 of 4 parameters"));
    EXPECT_THAT(error.found(), HasSubstr("unused.weight, unused.bias"));
    EXPECT_THAT(error.found(), Not(HasSubstr("used.weight, used.bias")));
  }
}

TEST_F(DistributedDataParallelTest, UnusedParametersMayBeAllowed) {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  DistributedDataParallel ddp(std::make_shared<PartlyUsed>(), group_, options);
  for (int step = 0; step < 3; ++step) ddp.forward(torch::ones({1, 3})).sum().backward();
  EXPECT_TRUE(ddp.module()->used->weight.grad().equal(torch::full({2, 3}, 3.0)));
}

TEST_F(DistributedDataParallelTest, AfterAnUnusedParameterTheNextForwardSaysItAgain) {
  DistributedDataParallel ddp(std::make_shared<PartlyUsed>(), group_);
  EXPECT_THROW(ddp.forward(torch::ones({1, 3})).sum().backward(), Error);
  try {
    ddp.forward(torch::ones({1, 3}));
    FAIL() << "the gradients of the previous step were not exchanged";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_model_use);
    EXPECT_THAT(error.found(), HasSubstr("unused.weight"));
  }
}

TEST_F(DistributedDataParallelTest, AnOutputThatTheLossDoesNotUseIsNamedWithARemedyThatHelps) {
  struct TwoHeads : torch::nn::Module {
    std::tuple<torch::Tensor, torch::Tensor> forward(const torch::Tensor& x, bool detach) {
      const torch::Tensor second = b->forward(x);
      return {a->forward(x), detach ? second.detach() : second};
    }
    torch::nn::Linear a = register_module("a", torch::nn::Linear(3, 2));
    torch::nn::Linear b = register_module("b", torch::nn::Linear(3, 2));
  };
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  {
    DistributedDataParallel ddp(std::make_shared<TwoHeads>(), group_, options);
    std::get<0>(ddp.forward(torch::ones({1, 3}), false)).sum().backward();
    test::expect_error(
        ErrorCode::invalid_model_use,
        [&] {
          ddp.forward(torch::ones({1, 3}), false);
        },
        "2 of 4 parameters got no gradient: b.weight, b.bias", "detach()");
  }
  DistributedDataParallel ddp(std::make_shared<TwoHeads>(), group_, options);
  for (int step = 0; step < 3; ++step) {
    std::get<0>(ddp.forward(torch::ones({1, 3}), true)).sum().backward();
  }
}

// The ranks compare these descriptions, and their programs may have different locales.
TEST(ModelAgreement, DescribesModelsAndOptionsWithoutTheLocaleOfTheProgram) {
  const test::GroupingLocale with_commas(',');
  const auto difference = [](int inputs, double bucket_mb) {
    const auto thrown = run_ranks({0, 1}, 2, [&](const Resolution& resolution) {
      const bool differs = resolution.placement.rank == 1;
      ProcessGroup group = make_process_group(resolution, Env());
      DistributedDataParallelOptions options;
      if (differs) options.bucket_cap_mb = bucket_mb;
      DistributedDataParallel ddp(torch::nn::Linear(differs ? inputs : 2000, 1), group, options);
    });
    try {
      if (thrown[0]) std::rethrow_exception(thrown[0]);
    } catch (const Error& error) {
      return error.found();
    }
    return std::string("none");
  };
  EXPECT_THAT(difference(3000, 25), HasSubstr("of shape [1, 3000]"));
  EXPECT_THAT(difference(2000, 5000), HasSubstr("bucket_cap_mb = 5000,"));
}

TEST_F(DistributedDataParallelTest, UndefinedOutputsDoNoHarm) {
  struct Attention : torch::nn::Module {
    auto forward(const torch::Tensor& x) {
      return layer->forward(x, x, x, /*key_padding_mask=*/{}, /*need_weights=*/false);
    }
    torch::nn::MultiheadAttention layer =
        register_module("layer", torch::nn::MultiheadAttention(4, 2));
  };
  for (const bool find_unused : {false, true}) {
    DistributedDataParallelOptions options;
    options.find_unused_parameters = find_unused;
    DistributedDataParallel ddp(std::make_shared<Attention>(), group_, options);
    const auto [values, weights] = ddp.forward(torch::ones({3, 1, 4}));
    EXPECT_FALSE(weights.defined());
    values.sum().backward();
  }
}

TEST_F(DistributedDataParallelTest, NestedOutputsAsOfAnLstm) {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  DistributedDataParallel ddp(torch::nn::LSTM(3, 2), group_, options);
  for (int step = 0; step < 2; ++step) {
    const auto [output, state] = ddp.forward(torch::ones({4, 1, 3}));
    (output.sum() + std::get<0>(state).sum() + std::get<1>(state).sum()).backward();
  }
}

TEST_F(DistributedDataParallelTest, ForwardsWithoutGradientsNeedNoBackward) {
  DistributedDataParallel ddp(torch::nn::Linear(3, 2), group_);
  {
    const torch::NoGradGuard no_grad;
    ddp.forward(torch::ones({1, 3}));
    ddp.forward(torch::ones({1, 3}));
  }
  ddp.forward(torch::ones({1, 3})).sum().backward();
  EXPECT_TRUE(ddp.module()->bias.grad().equal(torch::ones({2})));
}

TEST_F(DistributedDataParallelTest, RefusesAModelWithNothingToTrain) {
  torch::nn::Linear frozen(3, 2);
  for (torch::Tensor& parameter : frozen->parameters()) parameter.set_requires_grad(false);
  try {
    DistributedDataParallel ddp(frozen, group_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_model_use);
  }
}

TEST(DistributedDataParallel, ARankThatIsGoneInTheBackwardPassIsALostPeer) {
  const auto thrown = testing_support::run_ranks({0, 1}, 2, [](const Resolution& resolution) {
    ProcessGroup group = make_process_group(resolution, Env());
    DistributedDataParallel ddp(torch::nn::Linear(3, 2), group);
    const torch::Tensor loss = ddp.forward(torch::ones({1, 3})).sum();
    if (group.rank() == 0) loss.backward();
  });
  EXPECT_EQ(thrown[1], nullptr);
  try {
    ASSERT_NE(thrown[0], nullptr);
    std::rethrow_exception(thrown[0]);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::peer_lost);
    EXPECT_THAT(error.found(), HasSubstr("the backward pass"));
  }
}

TEST(CollectiveFailure, OfNcclsRemoteErrorIsALostPeer) {
  const std::runtime_error cause(
      "NCCL error in: ProcessGroupNCCL.cpp:7, remote process exited or there was a network error\n"
      "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting "
      "prematurely.\nLast error:\n");
  const auto error = collective_failure(cause, "a broadcast");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::peer_lost);
  EXPECT_THAT(error->found(), HasSubstr("remote process exited"));
}

}  // namespace
}  // namespace hpcboot
