#include "models/model.hpp"

#include <iterator>

#include "hpcboot/error.hpp"
#include "models/mnistnet.hpp"
#include "models/resnet.hpp"

namespace hpcboot::models {
namespace {

using Options = ImageModelOptions;
using Pointer = std::shared_ptr<Model>;
using Make = Pointer (*)(const Options&);

Pointer mnistnet(const Options& o) {
  return std::make_shared<MnistNet>(o.channels, o.classes);
}

template <const ResNetShape& shape>
Pointer resnet(const Options& o) {
  return std::make_shared<ResNet>(shape, o);
}

struct Maker {
  std::string_view name;
  Make make;
};

constexpr Maker kMakers[] = {
    {"mnistnet", &mnistnet},
    {"resnet18", &resnet<kResNet18>},
    {"resnet50", &resnet<kResNet50>},
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
