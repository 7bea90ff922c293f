#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <string>

#include "hpcboot/env.hpp"
#include "hpcboot/key_value_store.hpp"
#include "hpcboot/resolve.hpp"
#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// A store that every rank of this launch, and no other process, can access.
struct Rendezvous {
  c10::intrusive_ptr<c10d::Store> store;
  std::string description;  ///< where it is, for logs and errors
  std::string warning;      ///< for people, on rank 0
  /// The store through which the ranks located another one; null without one.
  c10::intrusive_ptr<c10d::Store> found_by{};
};

/// Opens the store, or connects to it, by the rules described at make_process_group(). Waits for no
/// rank other than the one that serves it.
/// @param kvs null if no exchange is needed or offered
/// @throws Error{deadline_exceeded, needs_exchange, backend_unavailable, exchange_failed,
///         unreadable_file, malformed_file}
Rendezvous open_rendezvous(const Resolution& resolution, const Env& env, KeyValueStore* kvs,
                           StoreKind kind, std::chrono::milliseconds deadline);

}  // namespace hpcboot
