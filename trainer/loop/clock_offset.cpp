#include "loop/clock_offset.hpp"

#include <ATen/Functions.h>

#include <chrono>
#include <limits>

#include "hpcboot/torch/collectives.hpp"

namespace hpcboot::train {
namespace {

constexpr int kQuestions = 16;

at::Tensor message(std::int64_t content) {
  return at::full({1}, content, at::kLong);
}

}  // namespace

std::int64_t wall_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::int64_t clock_ahead_of_first(Communicator& communicator) {
  if (communicator.group() == nullptr) return 0;
  const ProcessGroup& group = *communicator.group();
  if (communicator.is_first()) {
    for (int rank = 1; rank < communicator.size(); ++rank) {
      for (int question = 0; question < kQuestions; ++question) {
        recv(group, message(0), rank).wait();
        send(group, message(wall_clock()), rank).wait();
      }
    }
    return 0;
  }
  std::int64_t ahead = 0;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (int question = 0; question < kQuestions; ++question) {
    const std::int64_t asked = wall_clock();
    send(group, message(0), 0).wait();
    const std::int64_t answer = recv(group, message(0), 0).wait().item<std::int64_t>();
    const std::int64_t took = wall_clock() - asked;
    if (took >= shortest) continue;
    shortest = took;
    ahead = asked + took / 2 - answer;
  }
  return ahead;
}

}  // namespace hpcboot::train
