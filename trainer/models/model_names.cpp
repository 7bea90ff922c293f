#include "models/model_names.hpp"

#include <iterator>

#include "hpcboot/error.hpp"

namespace hpcboot::models {

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const KnownModel& known : kKnownModels) names.emplace_back(known.name);
  return names;
}

std::size_t index_of_model(std::string_view name) {
  std::string names;
  for (std::size_t i = 0; i < std::size(kKnownModels); ++i) {
    if (kKnownModels[i].name == name) return i;
    names += (names.empty() ? "" : ", ") + std::string(kKnownModels[i].name);
  }
  throw Error(ErrorCode::invalid_model_use, "model '" + std::string(name) + "'", "one of " + names,
              "choose one of these, or add yours to trainer/models/model_names.hpp");
}

bool has_layers(std::string_view name) {
  return kKnownModels[index_of_model(name)].has_layers;
}

}  // namespace hpcboot::models
