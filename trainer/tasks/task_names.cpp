#include "tasks/task_names.hpp"

#include <set>
#include <sstream>

#include "hpcboot/error.hpp"
#include "tasks/list.hpp"

namespace hpcboot::tasks {
namespace {

#define HPCBOOT_FACTS(name, ...) KnownTask{#name, __VA_ARGS__},
constexpr KnownTask kKnownTasks[] = {HPCBOOT_TASKS(HPCBOOT_FACTS)};
#undef HPCBOOT_FACTS

}  // namespace

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const KnownTask& one : kKnownTasks) names.emplace_back(one.name);
  return names;
}

std::vector<std::string> models_of(const KnownTask& task) {
  if (task.models == models::Kind::of_task) return {std::string(task.model)};
  return models::model_names(task.models);
}

std::vector<std::string> models_of_all_tasks() {
  std::set<std::string> names;
  for (const KnownTask& one : kKnownTasks) {
    for (const std::string& name : models_of(one)) names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::string about_tasks() {
  std::string text;
  for (const KnownTask& one : kKnownTasks) {
    text += (text.empty() ? "" : "; ") + std::string(one.name) + ": " + std::string(one.about);
  }
  return text;
}

const KnownTask& known_task(std::string_view name) {
  std::string names;
  for (const KnownTask& one : kKnownTasks) {
    if (one.name == name) return one;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw Error(ErrorCode::invalid_model_use, "task '" + std::string(name) + "'", "one of " + names,
              "choose one of these, or add yours to trainer/tasks/list.hpp");
}

std::string number_text(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

std::string default_of_each_task(std::string (*text)(const KnownTask& task)) {
  const std::string first = text(kKnownTasks[0]);
  std::string all = first;
  for (const KnownTask& one : kKnownTasks) {
    const std::string own = text(one);
    if (own != first && !own.empty()) all += "; " + own + " with " + std::string(one.name);
  }
  return all;
}

}  // namespace hpcboot::tasks
