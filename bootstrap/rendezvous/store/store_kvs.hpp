#pragma once

#include <memory>

#include "hpcboot/key_value_store.hpp"
#include "rendezvous.hpp"

namespace hpcboot::rendezvous {

// The store of a rendezvous as a key-value store of its ranks. Its destructor on rank 0 waits, for
// at most 3 seconds, until the other ranks have gone: they may still send requests.
std::unique_ptr<KeyValueStore> kvs_over(Rendezvous meeting, int rank, int world_size);

// Rank 0 waits until `others` ranks have called this, for at most 3 seconds; the others return at
// once.
void leave_together(Client& client, bool is_first, int others) noexcept;

}  // namespace hpcboot::rendezvous
