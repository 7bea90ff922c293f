#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "rendezvous/store/rendezvous.hpp"

namespace hpcboot {

/// The store of one launch as a c10d::Store: Gloo and NCCL exchange their addresses through it.
/// Every rank has proved that it belongs to the launch. Thread-safe; a call that waits does not
/// block the calls of other threads.
///
/// A wait that times out throws what c10d's own stores throw: c10::DistStoreError in LibTorch 2,
/// "wait timeout after …"; std::runtime_error in 1.13, "Socket Timeout". All calls throw
/// Error{peer_lost} if rank 0 is gone.
class WorldStore final : public c10d::Store {
 public:
  /// @param meeting if this rank serves it, it stops serving when this store is destroyed
  /// @param timeout of get(), and of wait() without one
  WorldStore(std::shared_ptr<const rendezvous::Rendezvous> meeting,
             std::chrono::milliseconds timeout);

  void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::uint8_t> compareSet(const std::string& key,
                                       const std::vector<std::uint8_t>& expected,
                                       const std::vector<std::uint8_t>& desired) override;
  std::vector<std::uint8_t> get(const std::string& key) override;
  std::int64_t add(const std::string& key, std::int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  std::int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;

  /// @{ Virtual in some versions of LibTorch only, so `override` is not possible here.
  // NOLINTBEGIN(modernize-use-override)
  c10::intrusive_ptr<c10d::Store> clone();
  void append(const std::string& key, const std::vector<std::uint8_t>& value);
  std::vector<std::vector<std::uint8_t>> multiGet(const std::vector<std::string>& keys);
  void multiSet(const std::vector<std::string>& keys,
                const std::vector<std::vector<std::uint8_t>>& values);
  bool hasExtendedApi() const { return true; }
  // NOLINTEND(modernize-use-override)
  /// @}

 private:
  rendezvous::Client& client() const { return *meeting_->client; }

  std::shared_ptr<const rendezvous::Rendezvous> meeting_;
};

}  // namespace hpcboot
