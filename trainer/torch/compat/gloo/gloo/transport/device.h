#pragma once

// Replaces Gloo's header of this name; see ../context.h.

namespace gloo {
namespace transport {

class Device;

class UnboundBuffer {
 public:
  virtual ~UnboundBuffer() = default;
};

}  // namespace transport
}  // namespace gloo
