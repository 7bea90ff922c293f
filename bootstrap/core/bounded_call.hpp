#pragma once

#include <chrono>
#include <functional>

namespace hpcboot {

// Runs `call` in its own thread and waits at most `limit` for it. For library calls that block
// without a timeout. A call that exceeds the limit keeps running in its detached thread, so it must
// own everything that it uses.
// @return true if it finished in time
// @throws whatever `call` throws within the limit, and as start_thread()
bool bounded_call(std::function<void()> call, std::chrono::milliseconds limit);

}  // namespace hpcboot
