#include "loop/communicator.hpp"

#include <ATen/Functions.h>

#include <utility>

#include "hpcboot/torch/collectives.hpp"

namespace hpcboot::train {
namespace {

// Between two words of a rank that waits; less than the shortest collective timeout, a second.
constexpr std::chrono::milliseconds kWord{250};

}  // namespace

Communicator::Communicator(Resolution resolution, std::optional<ProcessGroup> group)
    : resolution_(std::move(resolution)), group_(std::move(group)) {}

void Communicator::sum(at::Tensor tensor) {
  if (group_) all_reduce(*group_, tensor).wait();
}

void Communicator::broadcast(at::Tensor tensor) {
  if (group_) hpcboot::broadcast(*group_, tensor).wait();
}

std::string Communicator::broadcast(std::string_view text) {
  return group_ ? broadcast_text(*group_, text) : std::string(text);
}

std::vector<std::string> Communicator::gather(std::string_view text) {
  return group_ ? all_gather_text(*group_, text) : std::vector<std::string>{std::string(text)};
}

void Communicator::wait_until_all(
    const std::function<bool(std::chrono::milliseconds limit)>& done) {
  at::Tensor waiting;
  do {
    waiting = at::full({}, done(kWord) ? 0 : 1, at::kLong);
    sum(waiting);
  } while (waiting.item<std::int64_t>() > 0);
}

void Communicator::finish() {
  if (group_) group_->shutdown();
}

}  // namespace hpcboot::train
