#pragma once

namespace hpcboot::train {

/// Makes the process keep freed memory from now on, for its next step. Each step allocates and
/// frees activations and gradients; by default glibc returns blocks of that size to the system,
/// which then has to clear every page of them again.
void keep_freed_memory() noexcept;

}  // namespace hpcboot::train
