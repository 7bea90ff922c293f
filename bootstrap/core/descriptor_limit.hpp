#pragma once

namespace hpcboot {

// Raises this process's soft limit on descriptors to the hard limit: every rank needs several.
void raise_descriptor_limit();
// Restores the original limit in a child before exec(): programs that use select() may break with
// more descriptors. Async-signal-safe.
void restore_descriptor_limit();

}  // namespace hpcboot
