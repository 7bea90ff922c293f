#pragma once

#include <memory>

#include "hpcboot/key_value_store.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "rendezvous.hpp"

namespace hpcboot {

/// What the ranks of a launch met through. Shared by their groups, and by a call that may outlast
/// its deadline.
struct Meeting {
  std::unique_ptr<KeyValueStore> kvs;
  Rendezvous rendezvous;

  Meeting() = default;
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  /// LibTorch's store waits for its thread, which an unauthenticated peer may block.
  ~Meeting();
};

/// Opens the store and waits for all ranks. Both steps have deadlines, but LibTorch's store honours
/// them only in part: a peer that connects to its port, sends half a request and stays connected
/// blocks its only thread, and thereby every rank.
/// @throws as make_process_group()
std::shared_ptr<Meeting> meet(const Resolution& resolution, const Env& env,
                              const ProcessGroupOptions& options);

/// The name by which other ranks know this process: host and process id.
std::string host_and_process();

}  // namespace hpcboot
