#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// Texts that ranks send to rank 0 beside the collectives, through the store in which they met. May
/// be used by another thread than the group. Arrives in the order in which a rank sent them.
class Mailbox {
 public:
  /// @param group must have a store, which every group of make_process_group() has
  /// @param name differs from that of other mailboxes of the group
  Mailbox(const ProcessGroup& group, const std::string& name);
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Each throws what the store throws if it does not answer.
  void send(const std::string& text);
  /// On rank 0: what the other ranks have sent since the last call, without waiting for more.
  std::vector<std::string> receive();

 private:
  struct Store;
  std::string key_of(int rank, std::int64_t number) const;

  std::unique_ptr<Store> store_;
  std::string name_;
  int rank_;
  std::vector<std::int64_t> next_;  // number of each rank's next text
};

}  // namespace hpcboot
