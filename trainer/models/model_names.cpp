#include "models/model_names.hpp"

#include "hpcboot/error.hpp"

namespace hpcboot::models {

std::vector<std::string> model_names(Kind kind) {
  std::vector<std::string> names;
  for (const KnownModel& known : kKnownModels) {
    if (known.kind == kind) names.emplace_back(known.name);
  }
  return names;
}

const KnownModel& known_model(std::string_view name) {
  std::string names;
  for (const KnownModel& known : kKnownModels) {
    if (known.name == name) return known;
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  throw Error(ErrorCode::invalid_model_use, "model '" + std::string(name) + "'", "one of " + names,
              "choose one of these, or add yours to trainer/models/model_names.hpp");
}

bool has_layers(std::string_view name) {
  return known_model(name).has_layers;
}

}  // namespace hpcboot::models
