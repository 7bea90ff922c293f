#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "hpcboot/error.hpp"
#include "models/model.hpp"

namespace hpcboot::models {
namespace {

std::int64_t parameter_count(const Model& model) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

TEST(Models, EveryKnownModelMapsImagesToScores) {
  EXPECT_THAT(model_names(), testing::ElementsAre("mnistnet", "resnet18", "resnet50"));
  for (const std::string& name : model_names()) {
    for (const std::int64_t channels : {1, 3}) {
      const auto model = make_model(name, {channels, 7});
      model->eval();
      EXPECT_EQ(model->forward(torch::zeros({2, channels, 32, 32})).sizes(),
                (std::vector<std::int64_t>{2, 7}))
          << name;
    }
  }
}

TEST(Models, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  try {
    make_model("resnet5");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_model_use);
    EXPECT_THAT(error.found(), testing::HasSubstr("resnet5"));
    EXPECT_THAT(error.expected(), testing::HasSubstr("mnistnet, resnet18, resnet50"));
  }
}

TEST(Models, LayersCanBeCheckpointedUnderTheirNames) {
  for (const std::string& name : model_names()) {
    const auto make = [&] { return make_model(name, {1, 10, 32, /*checkpointed=*/true}); };
    if (has_layers(name)) {
      EXPECT_EQ(make()->named_parameters().keys(), make_model(name)->named_parameters().keys());
    } else {
      EXPECT_THROW(make(), Error) << name;
    }
  }
}

TEST(Models, TheSeedDecidesTheWeights) {
  for (const std::string& name : model_names()) {
    torch::manual_seed(5);
    const auto first = make_model(name)->parameters();
    torch::manual_seed(5);
    const auto second = make_model(name)->parameters();
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(first[i].equal(second[i])) << name;
  }
}

TEST(MnistNet, TakesSquareImagesOfAnySize) {
  const auto model = make_model("mnistnet");
  for (const std::int64_t size : {8, 28, 32, 65, 128}) {
    EXPECT_EQ(model->forward(torch::zeros({3, 1, size, size})).sizes(),
              (std::vector<std::int64_t>{3, 10}));
  }
}

TEST(MnistNet, ScoresOfAnImageDoNotDependOnItsBatch) {
  const auto model = make_model("mnistnet");
  const torch::Tensor images = torch::randn({4, 1, 28, 28});
  EXPECT_TRUE(torch::allclose(model->forward(images).slice(0, 2, 3),
                              model->forward(images.slice(0, 2, 3)), 1e-5, 1e-6));
  EXPECT_TRUE(model->buffers().empty());
}

TEST(ResNet50, HasTorchvisionsParametersAndBuffers) {
  const auto model = make_model("resnet50");
  // torchvision: 25557032 with 3 channels and 1000 classes; 2 channels of 7x7x64 and 990 classes
  // of 2048 weights and a bias fewer.
  EXPECT_EQ(parameter_count(*model), 25557032 - 2 * 49 * 64 - 990 * 2049);
  const auto parameters = model->named_parameters();
  const auto buffers = model->named_buffers();
  EXPECT_EQ(parameters.size(), 161u);
  EXPECT_EQ(buffers.size(), 159u);

  const std::pair<const char*, std::vector<std::int64_t>> shapes[] = {
      {"conv1.weight", {64, 1, 7, 7}},
      {"bn1.bias", {64}},
      {"layer1.0.downsample.0.weight", {256, 64, 1, 1}},
      {"layer2.0.conv1.weight", {128, 256, 1, 1}},
      {"layer2.0.conv2.weight", {128, 128, 3, 3}},
      {"layer3.5.bn3.weight", {1024}},
      {"layer4.0.downsample.1.weight", {2048}},
      {"layer4.2.conv3.weight", {2048, 512, 1, 1}},
      {"fc.weight", {10, 2048}},
  };
  for (const auto& [name, shape] : shapes) {
    ASSERT_TRUE(parameters.contains(name)) << name;
    EXPECT_EQ(parameters[name].sizes(), shape) << name;
  }
  EXPECT_FALSE(parameters.contains("layer1.1.downsample.0.weight"));
  EXPECT_TRUE(buffers.contains("layer4.2.bn3.running_var"));
  EXPECT_TRUE(buffers.contains("bn1.num_batches_tracked"));
}

TEST(ResNet50, StartsFromTorchvisionsInitialisation) {
  torch::manual_seed(0);
  const auto parameters = make_model("resnet50")->named_parameters();
  // He's normal distribution by fan-out: variance 2 / (out_channels x kernel area).
  const torch::Tensor& conv = parameters["layer4.2.conv2.weight"];
  EXPECT_NEAR(conv.std().item<double>(), std::sqrt(2.0 / (512 * 9)), 1e-4);
  EXPECT_NEAR(conv.mean().item<double>(), 0, 1e-4);
  EXPECT_TRUE(parameters["layer4.2.bn2.weight"].eq(1).all().item<bool>());
  EXPECT_TRUE(parameters["layer4.2.bn2.bias"].eq(0).all().item<bool>());
}

}  // namespace
}  // namespace hpcboot::models
