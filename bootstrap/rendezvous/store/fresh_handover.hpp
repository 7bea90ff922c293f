#pragma once

#include "rendezvous/handover.hpp"

namespace hpcboot::rendezvous {

// A hand-over with an id and a secret of its own. @throws Error{exchange_failed}
Handover fresh_handover(int world_size, std::vector<std::string> hosts);

}  // namespace hpcboot::rendezvous
