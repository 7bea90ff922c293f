#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

// Without LibTorch: for command lines.
namespace hpcboot::models {

/// What a model takes.
enum class Kind { images, sequences };

struct KnownModel {
  std::string_view name;
  bool has_layers;  ///< that can run with checkpoint()
  Kind kind = Kind::images;
};

/// Sorted by name.
inline constexpr std::array kKnownModels{
    KnownModel{"mnistnet", false},
    KnownModel{"resnet50", true},
    KnownModel{"transformer", false, Kind::sequences},
    KnownModel{"transformer_small", false, Kind::sequences},
};

/// The names of all models, sorted.
std::vector<std::string> model_names();
/// The names of the models of this kind, sorted.
std::vector<std::string> model_names(Kind kind);
/// @throws Error{invalid_model_use} for an unknown name
Kind kind_of_model(std::string_view name);

/// Whether the model consists of layers that can run with checkpoint().
/// @throws Error{invalid_model_use} for an unknown name
bool has_layers(std::string_view name);

/// The position in kKnownModels.
/// @throws Error{invalid_model_use} for an unknown name; the message lists the known ones
std::size_t index_of_model(std::string_view name);

}  // namespace hpcboot::models
