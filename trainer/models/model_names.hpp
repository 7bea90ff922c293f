#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Without LibTorch: for command lines.
namespace hpcboot::models {

struct KnownModel {
  std::string_view name;
  bool has_layers;  ///< that can run with checkpoint()
};

/// Sorted by name; with millions of parameters.
inline constexpr KnownModel kKnownModels[] = {
    {"mnistnet", false},  // 0.4
    {"resnet18", true},   // 12
    {"resnet50", true},   // 26
    {"vit_b_16", true},   // 87
    {"vit_s_16", true},   // 22
    {"vit_ti_16", true},  // 6
};

/// The names that make_model() accepts, sorted.
std::vector<std::string> model_names();

/// Whether the model consists of layers that can run with checkpoint().
/// @throws Error{invalid_model_use} for an unknown name
bool has_layers(std::string_view name);

/// The position in kKnownModels.
/// @throws Error{invalid_model_use} for an unknown name; the message lists the known ones
std::size_t index_of_model(std::string_view name);

}  // namespace hpcboot::models
