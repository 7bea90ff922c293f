#include "models/model.hpp"

#include <array>

#include "hpcboot/error.hpp"
#include "models/mnistnet.hpp"
#include "models/resnet50.hpp"

namespace hpcboot::models {
namespace {

struct KnownModel {
  std::string_view name;
  bool has_layers;
  std::shared_ptr<Model> (*make)(std::int64_t in_channels, std::int64_t classes, bool checkpointed);
};

std::shared_ptr<Model> make_mnistnet(std::int64_t in_channels, std::int64_t classes,
                                     bool /*checkpointed*/) {
  return std::make_shared<MnistNet>(in_channels, classes);
}

std::shared_ptr<Model> make_resnet50(std::int64_t in_channels, std::int64_t classes,
                                     bool checkpointed) {
  return std::make_shared<ResNet50>(in_channels, classes, checkpointed);
}

// Sorted by name.
constexpr std::array kKnownModels{
    KnownModel{"mnistnet", false, &make_mnistnet},
    KnownModel{"resnet50", true, &make_resnet50},
};

const KnownModel& known_model(std::string_view name) {
  std::string names;
  for (const KnownModel& known : kKnownModels) {
    if (known.name == name) return known;
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  throw Error(ErrorCode::invalid_model_use, "model '" + std::string(name) + "'", "one of " + names,
              "choose one of these, or add yours to trainer/models/model.cpp");
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const KnownModel& known : kKnownModels) names.emplace_back(known.name);
  return names;
}

bool has_layers(std::string_view name) {
  return known_model(name).has_layers;
}

std::shared_ptr<Model> make_model(std::string_view name, std::int64_t in_channels,
                                  std::int64_t classes, bool checkpointed) {
  const KnownModel& known = known_model(name);
  if (checkpointed && !known.has_layers) {
    throw Error(ErrorCode::invalid_model_use,
                "model '" + std::string(name) + "' with checkpointed activations",
                "a model of several layers, such as resnet50", "choose one, or leave this out");
  }
  return known.make(in_channels, classes, checkpointed);
}

}  // namespace hpcboot::models
