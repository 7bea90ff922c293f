#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <functional>

namespace hpcboot {

/// Copies between a device and pinned host memory, on streams of their own: beside what the device
/// computes.
class HostCopies {
 public:
  explicit HostCopies(c10::Device device);

  /// Runs `body`, which copies to the device, so that its copies follow what has been queued there.
  void upload(const std::function<void()>& body);
  /// What is queued on the device from now on follows the uploads.
  void join_uploads() const;
  /// @param to on the host, of the type of `from`; has its values after finish()
  void download(const at::Tensor& to, const at::Tensor& from);
  /// Waits for all copies: host memory may be read, and changed, from now on.
  void finish();

 private:
  c10::Stream current() const;

  c10::Device device_;
  c10::Stream uploads_;
  c10::Stream downloads_;
  bool is_busy_ = false;
};

}  // namespace hpcboot
