#pragma once

#include "rendezvous/handover.hpp"

namespace hpcboot::rendezvous {

// A handover with a new id and a new secret. @throws Error{exchange_failed}
Handover fresh_handover(int world_size, std::vector<std::string> hosts);

}  // namespace hpcboot::rendezvous
