#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Without LibTorch: for command lines.
namespace hpcboot::models {

/// What a model takes; of_task: what the only task takes that has it.
enum class Kind { images, sequences, of_task };

struct KnownModel {
  std::string_view name;
  Kind kind = Kind::images;
  bool has_layers = false;    ///< that can run with checkpoint()
  std::int64_t multiple = 1;  ///< the sizes of images are multiples of this
  /// Images up to this size become one pixel with batch normalisation, so that one image alone
  /// cannot be normalised; 0: no size does.
  std::int64_t one_pixel = 0;

  bool has_batch_norms() const { return one_pixel != 0; }
};

/// Sorted by name; with millions of parameters.
inline constexpr KnownModel kKnownModels[] = {
    {"mnistnet"},                             // 0.4
    {"resnet18", Kind::images, true, 1, 32},  // 12
    {"resnet50", Kind::images, true, 1, 32},  // 26
    {"transformer", Kind::sequences},         // 44, for vectors of 512 numbers
    {"transformer_small", Kind::sequences},   // 7, likewise
    {"vit_b_16", Kind::images, true, 16},     // 87
    {"vit_s_16", Kind::images, true, 16},     // 22
    {"vit_ti_16", Kind::images, true, 16},    // 6
};

/// The names of the models of this kind, sorted.
std::vector<std::string> model_names(Kind kind);

/// @throws Error{invalid_model_use} for an unknown name; the message lists the known ones
const KnownModel& known_model(std::string_view name);

/// Whether the model consists of layers that can run with checkpoint().
/// @throws Error{invalid_model_use} for an unknown name
bool has_layers(std::string_view name);

}  // namespace hpcboot::models
