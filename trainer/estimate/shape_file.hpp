#pragma once

#include <filesystem>

#include "hpcboot/torch/estimate.hpp"

namespace hpcboot::estimate {

/// Reads a transformer's sizes from a JSON object: with the keys that `trainer estimate --help`
/// lists, or those of a config.json of Hugging Face's transformers for GPT-2, Llama and their kin.
/// @throws Error{unreadable_file, malformed_file, invalid_model_use}
Transformer read_transformer(const std::filesystem::path& file);

}  // namespace hpcboot::estimate
