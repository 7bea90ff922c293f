#pragma once

#include <chrono>
#include <functional>

namespace hpcboot {

// Runs `call` in a thread of its own and waits for it, but no longer than `limit`. For calls into
// libraries that block without a deadline. One that is late is left behind, running: what it uses
// has to be its own.
// @return did it end in time?
// @throws what `call` throws in time
bool bounded_call(std::function<void()> call, std::chrono::milliseconds limit);

}  // namespace hpcboot
