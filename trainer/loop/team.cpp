#include "loop/team.hpp"

#include <utility>

#include "hpcboot/torch/collectives.hpp"

namespace hpcboot::train {

Team::Team(Resolution resolution, std::optional<ProcessGroup> group)
    : resolution_(std::move(resolution)), group_(std::move(group)) {}

void Team::sum(at::Tensor tensor) {
  if (group_) all_reduce_sum(*group_, std::move(tensor));
}

void Team::take_from_first(at::Tensor tensor) {
  if (group_) broadcast(*group_, std::move(tensor));
}

std::string Team::text_from_first(std::string_view text) {
  return group_ ? broadcast_text(*group_, text) : std::string(text);
}

std::vector<std::string> Team::gather(std::string_view text) {
  return group_ ? all_gather_text(*group_, text) : std::vector<std::string>{std::string(text)};
}

void Team::finish() {
  if (group_) group_->shutdown();
}

}  // namespace hpcboot::train
