#include "host_copies.hpp"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace hpcboot {
namespace {

c10::Stream new_stream(c10::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}

/// What is queued on `after` from now on runs after what is queued on `before`.
void order(const c10::Stream& before, const c10::Stream& after) {
  c10::Event event(before.device_type());
  event.record(before);
  event.block(after);
}

}  // namespace

HostCopies::HostCopies(c10::Device device)
    : device_(device), uploads_(new_stream(device)), downloads_(new_stream(device)) {}

c10::Stream HostCopies::current() const {
  return c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
}

void HostCopies::upload(const std::function<void()>& body) {
  is_busy_ = true;
  order(current(), uploads_);
  const c10::StreamGuard guard(uploads_);
  body();
}

void HostCopies::join_uploads() const {
  order(uploads_, current());
}

void HostCopies::download(const at::Tensor& to, const at::Tensor& from) {
  is_busy_ = true;
  order(current(), downloads_);
  const c10::StreamGuard guard(downloads_);
  at::Tensor(to).copy_(from, /*non_blocking=*/true);
  from.record_stream(downloads_);  // its memory is used again after the copy only
}

void HostCopies::finish() {
  if (!is_busy_) return;
  uploads_.synchronize();
  downloads_.synchronize();
  is_busy_ = false;
}

}  // namespace hpcboot
