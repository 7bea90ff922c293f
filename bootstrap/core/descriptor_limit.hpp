#pragma once

namespace hpcboot {

// Raises this process's soft limit of descriptors to the hard one: each rank takes some of them.
void raise_descriptor_limit();
// In a child before exec(): the limit that there was before, as programs with select() may break
// with more. Async-signal-safe.
void restore_descriptor_limit();

}  // namespace hpcboot
