#include "models/model.hpp"

#include <array>

#include "hpcboot/error.hpp"
#include "models/mnistnet.hpp"
#include "models/resnet50.hpp"

namespace hpcboot::models {
namespace {

std::shared_ptr<Model> make_mnistnet(std::int64_t in_channels, std::int64_t classes,
                                     bool /*checkpointed*/) {
  return std::make_shared<MnistNet>(in_channels, classes);
}

std::shared_ptr<Model> make_resnet50(std::int64_t in_channels, std::int64_t classes,
                                     bool checkpointed) {
  return std::make_shared<ResNet50>(in_channels, classes, checkpointed);
}

using Make = std::shared_ptr<Model> (*)(std::int64_t in_channels, std::int64_t classes,
                                        bool checkpointed);

// In the order of kKnownModels.
constexpr std::array<Make, kKnownModels.size()> kMakers{&make_mnistnet, &make_resnet50};

}  // namespace

std::shared_ptr<Model> make_model(std::string_view name, std::int64_t in_channels,
                                  std::int64_t classes, bool checkpointed) {
  const std::size_t index = index_of_model(name);
  if (checkpointed && !kKnownModels[index].has_layers) {
    throw Error(ErrorCode::invalid_model_use,
                "model '" + std::string(name) + "' with checkpointed activations",
                "a model of several layers, such as resnet50", "choose one, or leave this out");
  }
  return kMakers[index](in_channels, classes, checkpointed);
}

}  // namespace hpcboot::models
