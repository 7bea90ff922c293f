#include "models/model.hpp"

#include <iterator>

#include "hpcboot/error.hpp"
#include "models/mnistnet.hpp"
#include "models/resnet.hpp"
#include "models/vit.hpp"

namespace hpcboot::models {
namespace {

using Options = ImageModelOptions;
using Pointer = std::shared_ptr<Model>;

struct Maker {
  std::string_view name;
  Pointer (*make)(const Options&);
};

constexpr Maker kMakers[] = {
    {"mnistnet",
     [](const Options& o) -> Pointer { return std::make_shared<MnistNet>(o.channels, o.classes); }},
    {"resnet18",
     [](const Options& o) -> Pointer { return std::make_shared<ResNet>(kResNet18, o); }},
    {"resnet50",
     [](const Options& o) -> Pointer { return std::make_shared<ResNet>(kResNet50, o); }},
    {"vit_b_16", [](const Options& o) -> Pointer { return std::make_shared<ViT>(kViTB16, o); }},
    {"vit_s_16", [](const Options& o) -> Pointer { return std::make_shared<ViT>(kViTS16, o); }},
    {"vit_ti_16", [](const Options& o) -> Pointer { return std::make_shared<ViT>(kViTTi16, o); }},
};

constexpr bool in_order_of_known_models() {
  if (std::size(kMakers) != std::size(kKnownModels)) return false;
  for (std::size_t i = 0; i < std::size(kMakers); ++i) {
    if (kMakers[i].name != kKnownModels[i].name) return false;
  }
  return true;
}
static_assert(in_order_of_known_models(), "kMakers needs the models of kKnownModels");

}  // namespace

std::shared_ptr<Model> make_model(std::string_view name, const ImageModelOptions& options) {
  const std::size_t index = index_of_model(name);
  if (options.checkpointed && !kKnownModels[index].has_layers) {
    throw Error(ErrorCode::invalid_model_use,
                "model '" + std::string(name) + "' with checkpointed activations",
                "a model of several layers, such as resnet50", "choose one, or leave this out");
  }
  return kMakers[index].make(options);
}

}  // namespace hpcboot::models
