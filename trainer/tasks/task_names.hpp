#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/model_names.hpp"

// Without LibTorch: for command lines.
namespace hpcboot::tasks {

/// What a command line must know of a task.
struct KnownTask {
  std::string_view name;
  std::string_view about;   ///< a clause for --help
  std::string_view sample;  ///< what it trains on: "image"
  models::Kind models;      ///< those that it can train; of_task: only its own
  // The defaults of options.
  std::string_view model;
  std::string_view data;
  std::int64_t image_size;  ///< 0: it has no images
  std::string_view augment;
  double lr;
  std::string_view scale_lr;
  double dropout;  ///< 0: its models have none
};

/// The task of this name.
/// @throws Error{invalid_model_use} for an unknown name; the message lists the known ones
const KnownTask& known_task(std::string_view name);

std::vector<std::string> task_names();

/// The names of the models that the task can train.
std::vector<std::string> models_of(const KnownTask& task);
/// Those of all tasks, sorted.
std::vector<std::string> models_of_all_tasks();

/// "mnist: digits into classes; …", for --help.
std::string about_tasks();

/// "0.001"
std::string number_text(double number);

/// "1e-4; 1e-3 with transformer": a default that depends on the task, for --help.
/// @param text of a task's default
std::string default_of_each_task(std::string (*text)(const KnownTask& task));

}  // namespace hpcboot::tasks
