#pragma once

#include <memory>

#include "hpcboot/key_value_store.hpp"
#include "rendezvous.hpp"

namespace hpcboot::rendezvous {

// The store of a meeting as an exchange among its ranks. When it goes, rank 0 waits, for 3 seconds
// at most, until the others have gone: they may still be asking.
std::unique_ptr<KeyValueStore> kvs_over(Rendezvous meeting, int rank, int world_size);

// Rank 0 stays until `others` ranks have said this, for 3 seconds at most; they say it and go.
void leave_together(Client& client, bool is_first, int others) noexcept;

}  // namespace hpcboot::rendezvous
