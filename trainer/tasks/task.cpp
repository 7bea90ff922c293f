#include "tasks/task.hpp"

#include <utility>

#include "tasks/list.hpp"
#include "tasks/task_names.hpp"

namespace hpcboot::tasks {

// Each is defined in the task's file.
#define HPCBOOT_MAKER(name, ...) \
  std::unique_ptr<Task> make_##name(const train::TrainOptions& options, torch::Device device);
HPCBOOT_TASKS(HPCBOOT_MAKER)
#undef HPCBOOT_MAKER

Example Task::prepare(std::vector<torch::Tensor> parts) const {
  Example example;
  example.target = std::move(parts.back());
  parts.pop_back();
  for (torch::Tensor& part : parts) example.inputs.push_back(std::move(part));
  return example;
}

std::unique_ptr<Task> make_task(const train::TrainOptions& options, torch::Device device) {
  const std::string_view name = known_task(options.task).name;
#define HPCBOOT_MAKE(task, ...) \
  if (name == #task) return make_##task(options, device);
  HPCBOOT_TASKS(HPCBOOT_MAKE)
#undef HPCBOOT_MAKE
  return nullptr;  // not reached: known_task() throws
}

}  // namespace hpcboot::tasks
