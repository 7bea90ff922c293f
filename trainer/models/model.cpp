#include "models/model.hpp"

#include <string>

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

constexpr const Maker* maker_of(std::string_view name) {
  for (const Maker& maker : kMakers) {
    if (maker.name == name) return &maker;
  }
  return nullptr;
}

constexpr bool makes_all_of_images() {
  for (const KnownModel& known : kKnownModels) {
    if ((known.kind == Kind::images) != (maker_of(known.name) != nullptr)) return false;
  }
  return true;
}
static_assert(makes_all_of_images(), "kMakers needs the models of kKnownModels for images");

}  // namespace

std::shared_ptr<Model> make_model(std::string_view name, const ImageModelOptions& options) {
  if (options.checkpointed && !has_layers(name)) {
    throw Error(ErrorCode::invalid_model_use,
                "model '" + std::string(name) + "' with checkpointed activations",
                "a model of several layers, such as resnet50", "choose one, or leave this out");
  }
  const Maker* const maker = maker_of(known_model(name).name);
  if (maker != nullptr) return maker->make(options);
  throw Error(ErrorCode::invalid_model_use, "model '" + std::string(name) + "' for images",
              "a model that classifies images", "choose resnet50, for example");
}

}  // namespace hpcboot::models
