#include "hpcboot/torch/join.hpp"

#include <ATen/Functions.h>

#include <string>
#include <utility>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"

namespace hpcboot {

Join::Join(ProcessGroup group, std::vector<Joinable*> members, const JoinOptions& options)
    : group_(std::move(group)), members_(std::move(members)), options_(options) {
  try {
    for (Joinable* member : members_) member->set_join(this);
  } catch (...) {
    leave();
    throw;
  }
}

Join::~Join() {
  leave();
}

void Join::leave() {
  for (Joinable* member : members_) member->set_join(nullptr);
}

/// Every rank says whether it takes a step.
/// @return whether any does
bool Join::agree(bool active) {
  // The largest rank that goes on, and the largest that has finished.
  const at::Tensor largest = at::full({2}, -1, at::kLong);
  largest[active ? 0 : 1] = group_.rank();
  all_reduce(group_, largest, ReduceOp::max).wait();
  const auto going_on = static_cast<int>(largest[0].item<std::int64_t>());
  const auto finished = static_cast<int>(largest[1].item<std::int64_t>());
  if (options_.throw_on_early_end && going_on >= 0 && finished >= 0) {
    throw Error(ErrorCode::stopped,
                "rank " + std::to_string(finished) + " has no further batch, but rank " +
                    std::to_string(going_on) + " has",
                "the same number of batches on every rank, as throw_on_early_end asks for",
                "divide the data evenly, or leave out that option");
  }
  if (going_on < 0) return false;
  active_rank_ = going_on;
  return true;
}

void Join::step(const Joinable* member) {
  if (has_finished_) {
    throw Error(ErrorCode::invalid_collective, "a step after the finish() of its Join",
                "steps before that", "make a new Join for the next epoch");
  }
  if (member == members_.front()) agree(/*active=*/true);
}

void Join::finish() {
  if (has_finished_) return;
  while (agree(/*active=*/false)) {
    for (Joinable* member : members_) member->shadow_step();
  }
  has_finished_ = true;
  for (Joinable* member : members_) {
    if (active_rank_ >= 0) member->finish(active_rank_);
  }
  leave();
}

}  // namespace hpcboot
