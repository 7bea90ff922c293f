#include "on_devices.hpp"

#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DeviceGuard.h>

#include "compat.hpp"

namespace hpcboot {
namespace {

/// What ThreadLocalState does not hand on of autocast: the types, and that the converted weights
/// are forgotten when it ends. Constructed by the caller, then used by the replicas' threads.
class CallersAutocast {
 public:
  CallersAutocast()
      : on_cpu_(compat::autocast_type(at::kCPU)), on_cuda_(compat::autocast_type(at::kCUDA)) {}

  template <typename Call>
  void with(const Call& call) const {
    compat::set_autocast_type(at::kCPU, on_cpu_);
    compat::set_autocast_type(at::kCUDA, on_cuda_);
    struct Nesting {
      Nesting() { at::autocast::increment_nesting(); }
      ~Nesting() {
        if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
      }
    } const nesting;
    call();
  }

 private:
  at::ScalarType on_cpu_;
  at::ScalarType on_cuda_;
};

}  // namespace

void on_devices(ParallelCalls& calls, const std::vector<c10::Device>& devices, std::size_t count,
                const std::function<void(std::size_t)>& call) {
  const at::ThreadLocalState state;
  const CallersAutocast autocast;
  calls.run(count, [&](std::size_t replica) {
    const at::ThreadLocalStateGuard restored(state);
    const c10::DeviceGuard current(devices[replica]);
    autocast.with([&] { call(replica); });
  });
}

}  // namespace hpcboot
