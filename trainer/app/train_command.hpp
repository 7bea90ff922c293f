#pragma once

#include <optional>

#include "app/verbs.hpp"

namespace hpcboot::app {

/// When to read --config: once only, as it may be a pipe.
enum class ConfigFile { now, later };

options::Command train_command();

/// The options of a training run; with ConfigFile::later and --config, they are incomplete and not
/// checked.
/// @return nothing if the arguments ask for help, which is printed
/// @throws UsageError, options::UsageError; Error{unreadable_file} for the configuration file
std::optional<train::TrainOptions> parse_training(const Arguments& arguments, ConfigFile config);

}  // namespace hpcboot::app
