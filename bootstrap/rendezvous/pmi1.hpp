#pragma once

#include <chrono>
#include <memory>

#include "hpcboot/exchange.hpp"

namespace hpcboot {

// Is the number in PMI_FD an open socket of this process? Programs started from within a rank
// inherit the variable, not the descriptor.
bool pmi_fd_is_open_socket(const Env& env);

// Speaks PMI-1 over PMI_FD, as rank PMI_RANK of PMI_SIZE.
std::unique_ptr<Exchange> open_pmi1_exchange(const Env& env, std::chrono::milliseconds deadline);

}  // namespace hpcboot
