#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/precision.hpp"
#include "models/model.hpp"
#include "models/transformer.hpp"

namespace hpcboot::models {
namespace {

std::int64_t parameter_count(const Model& model) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

TEST(Models, EveryKnownModelMapsImagesToScores) {
  EXPECT_THAT(model_names(Kind::images), testing::ElementsAre("mnistnet", "resnet18", "resnet50",
                                                              "vit_b_16", "vit_s_16", "vit_ti_16"));
  for (const std::string& name : model_names(Kind::images)) {
    for (const std::int64_t channels : {1, 3}) {
      const auto model = make_model(name, {channels, 7});
      model->eval();
      EXPECT_EQ(model->forward(torch::zeros({2, channels, 32, 32})).sizes(),
                (std::vector<std::int64_t>{2, 7}))
          << name;
    }
  }
}

TEST(Models, EachLayerOfATransformerIsAUnitOfFullyShard) {
  const Transformer model(transformer_size("transformer", 16));
  int units = 0;
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (dynamic_cast<const ShardUnit*>(module.get()) != nullptr) ++units;
  }
  EXPECT_EQ(units, 12);
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
  for (const std::string& name : model_names(Kind::images)) {
    const auto make = [&] { return make_model(name, {1, 10, 32, /*checkpointed=*/true}); };
    if (has_layers(name)) {
      EXPECT_EQ(make()->named_parameters().keys(), make_model(name)->named_parameters().keys());
    } else {
      EXPECT_THROW(make(), Error) << name;
    }
  }
}

TEST(Models, TheSeedDecidesTheWeights) {
  for (const std::string& name : model_names(Kind::images)) {
    torch::manual_seed(5);
    const auto first = make_model(name)->parameters();
    torch::manual_seed(5);
    const auto second = make_model(name)->parameters();
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(first[i].equal(second[i])) << name;
  }
}

TEST(Models, ScoresUnderAutocastAreFinite) {
  const torch::Device cpu(torch::kCPU);
  use_precision(Precision::bf16, cpu);
  for (const std::string& name : model_names(Kind::images)) {
    const auto model = make_model(name, {3, 10, 32});
    for (torch::Tensor& parameter : model->parameters()) {
      if (parameter.dim() != 4) continue;  // as the trainer stores them
      parameter.set_data(parameter.detach().clone(torch::MemoryFormat::ChannelsLast));
    }
    torch::Tensor scores;
    {
      const Autocast autocast(Precision::bf16, cpu);
      scores = model->forward(torch::randn({2, 3, 32, 32}));
    }
    EXPECT_TRUE(scores.isfinite().all().item<bool>()) << name;
    scores.sum().backward();
    for (const auto& item : model->named_parameters()) {
      EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << name << " " << item.key();
    }
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

TEST(ResNet18, HasTorchvisionsNumberOfParameters) {
  EXPECT_EQ(parameter_count(*make_model("resnet18", {3, 1000})), 11689512);
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

TEST(ViT, HasThePublishedNumberOfParameters) {
  // torchvision's vit_b_16; DeiT's small and tiny models, in timm.
  EXPECT_EQ(parameter_count(*make_model("vit_b_16", {3, 1000, 224})), 86567656);
  EXPECT_EQ(parameter_count(*make_model("vit_s_16", {3, 1000, 224})), 22050664);
  EXPECT_EQ(parameter_count(*make_model("vit_ti_16", {3, 1000, 224})), 5717416);
}

TEST(ViT, StartsFromTorchvisionsInitialisation) {
  torch::manual_seed(0);
  const auto parameters = make_model("vit_b_16", {3, 10, 32})->named_parameters();
  const auto expect_normal = [&](const std::string& name, double deviation) {
    EXPECT_NEAR(parameters[name].std().item<double>() / deviation, 1, 0.05) << name;
    EXPECT_NEAR(parameters[name].mean().item<double>() / deviation, 0, 0.1) << name;
  };
  const auto expect_uniform = [&](const std::string& name, double bound) {
    EXPECT_NEAR(parameters[name].abs().max().item<double>() / bound, 1, 0.001) << name;
    EXPECT_NEAR(parameters[name].std().item<double>() / (bound / std::sqrt(3)), 1, 0.01) << name;
  };
  const auto expect_all = [&](const std::string& name, double value) {
    EXPECT_TRUE(parameters[name].eq(value).all().item<bool>()) << name;
  };
  const std::string layer = "encoder.layers.encoder_layer_11.";
  expect_normal("conv_proj.weight", std::sqrt(1.0 / (3 * 16 * 16)));
  expect_normal("encoder.pos_embedding", 0.02);
  expect_uniform(layer + "self_attention.in_proj_weight", std::sqrt(6.0 / (768 + 3 * 768)));
  expect_uniform(layer + "self_attention.out_proj.weight", std::sqrt(1.0 / 768));
  expect_uniform(layer + "mlp.0.weight", std::sqrt(6.0 / (768 + 3072)));
  expect_uniform(layer + "mlp.3.weight", std::sqrt(6.0 / (768 + 3072)));
  expect_normal(layer + "mlp.0.bias", 1e-6);
  expect_normal(layer + "mlp.3.bias", 1e-6);
  expect_all(layer + "ln_1.weight", 1);
  for (const char* zero : {"class_token", "conv_proj.bias", "heads.head.weight", "heads.head.bias"})
    expect_all(zero, 0);
  expect_all(layer + "self_attention.in_proj_bias", 0);
  expect_all(layer + "self_attention.out_proj.bias", 0);
}

TEST(ViT, TakesImagesOfWholePatchesOnly) {
  for (const auto& [size, nearest] : {std::pair{0, "16"}, {8, "16"}, {28, "32"}, {225, "224"}}) {
    try {
      make_model("vit_ti_16", {3, 10, size});
      ADD_FAILURE() << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_model_use);
      EXPECT_THAT(error.found(), testing::HasSubstr(std::to_string(size)));
      EXPECT_THAT(error.expected(), testing::HasSubstr("multiple of"));
      EXPECT_THAT(error.remedy(), testing::HasSubstr(nearest));
    }
  }
  const auto model = make_model("vit_ti_16", {3, 10, 48});
  EXPECT_EQ(model->forward(torch::zeros({2, 3, 48, 48})).sizes(),
            (std::vector<std::int64_t>{2, 10}));
  try {
    model->forward(torch::zeros({2, 3, 48, 32}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.found(), testing::HasSubstr("48 x 32 pixels"));
    EXPECT_THAT(error.expected(), testing::HasSubstr("48 x 48 pixels"));
  }
}

}  // namespace
}  // namespace hpcboot::models
