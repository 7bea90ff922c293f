#include "on_devices.hpp"

#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DeviceGuard.h>

#include "forward_state.hpp"

namespace hpcboot {
namespace {

/// Forgets the converted weights of autocast at its end.
struct AutocastNesting {
  AutocastNesting() { at::autocast::increment_nesting(); }
  ~AutocastNesting() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  }
};

}  // namespace

void on_devices(ParallelCalls& calls, const std::vector<c10::Device>& devices, std::size_t count,
                const std::function<void(std::size_t)>& call) {
  const at::ThreadLocalState state;
  const AutocastState autocast;  // its types, which ThreadLocalState does not hand on
  calls.run(count, [&](std::size_t replica) {
    const at::ThreadLocalStateGuard restored(state);
    const c10::DeviceGuard current(devices[replica]);
    autocast.restore();
    const AutocastNesting nesting;
    call(replica);
  });
}

}  // namespace hpcboot
