#pragma once

namespace hpcboot::train {

/// Memory that is freed stays with the process from now on, for its next step. Activations and
/// gradients are made and freed in each; by default glibc hands blocks of that size back to the
/// system, which clears every page of them anew.
void keep_freed_memory() noexcept;

}  // namespace hpcboot::train
