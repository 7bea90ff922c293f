#include "models/model.hpp"

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

struct Maker {
  std::string_view name;
  std::shared_ptr<Model> (*make)(std::int64_t in_channels, std::int64_t classes, bool checkpointed);
};

constexpr Maker kMakers[] = {{"mnistnet", &make_mnistnet}, {"resnet50", &make_resnet50}};

}  // namespace

std::shared_ptr<Model> make_model(std::string_view name, std::int64_t in_channels,
                                  std::int64_t classes, bool checkpointed) {
  if (checkpointed && !has_layers(name)) {
    throw Error(ErrorCode::invalid_model_use,
                "model '" + std::string(name) + "' with checkpointed activations",
                "a model of several layers, such as resnet50", "choose one, or leave this out");
  }
  for (const Maker& maker : kMakers) {
    if (maker.name == name) return maker.make(in_channels, classes, checkpointed);
  }
  throw Error(ErrorCode::invalid_model_use, "model '" + std::string(name) + "'",
              "a model that classifies images", "choose one of these");
}

}  // namespace hpcboot::models
