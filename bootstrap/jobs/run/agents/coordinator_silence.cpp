#include <algorithm>

#include "coordinator.hpp"

// Handles ranks that are all silent (--silence).
namespace hpcboot::run {

void Coordinator::look_for_silence() {
  const auto now = Clock::now();
  if (!stacks_until_) {
    // Ranks may be blocked by output that is not read.
    if (!console_.has_room()) silence_.note_sign(now);
    if (!silence_.is_over(now) || is_stopping_ || first_failure_ || first_loss_) return;
    is_stopping_ = true;
    stacks_until_ = now + kTimeForStacks;
    console_.say([&](Terminal& to) {
      to << "hpcboot run: " << silence_text(*run_.request.silence)
         << ": printing the stacks of all ranks, then ending the run\n";
    });
    for (AgentLink& link : links_) link.send(FrameKind::stacks, "");
  }
  if (!leave_at_ && (are_stacks_written() || now >= *stacks_until_)) end_others();
}

bool Coordinator::are_stacks_written() const {
  return std::all_of(links_.begin(), links_.end(), [](const AgentLink& link) {
    return link.fd() < 0 || link.running().empty() || link.has_written_stacks;
  });
}

}  // namespace hpcboot::run
