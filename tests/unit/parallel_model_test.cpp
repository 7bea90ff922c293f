// How the model of a run is set up for its device.
#include "loop/parallel_model.hpp"

#include <ATen/Context.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/conv.h>
#include <torch/utils.h>

#include <map>
#include <string>

namespace hpcboot::train {
namespace {

TrainOptions resnet50(const std::string& precision) {
  TrainOptions options;
  options.task = "mnist";
  options.model = "resnet50";
  options.data = "synthetic:8x1x28x28";
  options.image_size = 32;
  options.precision = precision;
  return options;
}

/// A model in one process, on the CPU.
class Single {
 public:
  explicit Single(const std::string& precision) : options_(resnet50(precision)) {
    torch::set_num_threads(1);
  }

  ParallelModel& model() { return model_; }

 private:
  const TrainOptions options_;
  Communicator communicator_{Resolution{}, std::nullopt};
  std::unique_ptr<tasks::Task> task_ = tasks::make_task(options_, torch::kCPU);
  ParallelModel model_{options_, *task_, "single", {torch::Device(torch::kCPU)}, communicator_};
};

/// How often each of LibTorch's operations is called by `work`.
template <typename Work>
std::map<std::string, int> calls_in(const Work& work) {
  static std::map<std::string, int> calls;
  calls.clear();
  const auto count = [](const at::RecordFunction& function) {
    ++calls[function.name()];
    return std::unique_ptr<at::ObserverContext>();
  };
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(count).scopes({at::RecordScope::FUNCTION}));
  work();
  at::removeCallback(handle);
  return calls;
}

TEST(ParallelModel, ComputesAllConvolutionsOfFewImagesByOnednn) {
  if (!at::hasMKLDNN()) GTEST_SKIP() << "this LibTorch has no oneDNN";
  Single single("fp32");
  const torch::NoGradGuard no_grad;
  const std::map<std::string, int> calls = calls_in([&] {
    single.model().infer({torch::ones({2, 1, 32, 32})});
  });
  EXPECT_EQ(calls.at("aten::convolution"), 53);
  EXPECT_EQ(calls.at("aten::mkldnn_convolution"), 53);
}

TEST(ParallelModel, ComputesTheSameByOnednn) {
  Single single("fp32");
  single.model().model().eval();
  const torch::NoGradGuard no_grad;
  const torch::Tensor images = torch::rand({2, 1, 32, 32});
  const torch::Tensor output = single.model().infer({images});
  for (const auto& module : single.model().model().modules()) {
    if (auto* one = dynamic_cast<torch::nn::Conv2dImpl*>(module.get())) one->options.dilation(1);
  }
  EXPECT_TRUE(torch::allclose(output, single.model().infer({images}), 1e-4, 1e-5));
}

TEST(ParallelModel, LeavesDoublePrecisionWhichOnednnDoesNotHave) {
  Single single("fp64");
  const torch::NoGradGuard no_grad;
  const std::map<std::string, int> calls = calls_in([&] {
    single.model().infer({torch::ones({2, 1, 32, 32})});
  });
  EXPECT_EQ(calls.count("aten::mkldnn_convolution"), 0U);
  EXPECT_EQ(calls.count("aten::slow_conv_dilated2d"), 0U);
}

}  // namespace
}  // namespace hpcboot::train
