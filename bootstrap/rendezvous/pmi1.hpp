#pragma once

#include <chrono>
#include <memory>

#include "hpcboot/key_value_store.hpp"

namespace hpcboot {

// Is the number in PMI_FD an open socket of this process? Programs started by a rank inherit the
// variable but not the descriptor.
bool pmi_fd_is_open_socket(const Env& env);

// Speaks PMI-1 over PMI_FD, as rank PMI_RANK of PMI_SIZE.
std::unique_ptr<KeyValueStore> open_pmi1_kvs(const Env& env, std::chrono::milliseconds deadline);

}  // namespace hpcboot
