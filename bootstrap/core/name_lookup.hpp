#pragma once

#include <netdb.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace hpcboot {

/// How long to wait for a name server: resolv.conf(5) may allow minutes.
constexpr std::chrono::milliseconds kLongestLookup = std::chrono::seconds(5);

/// What getaddrinfo(3) has found for TCP.
struct NameLookup {
  int error = EAI_AGAIN;
  addrinfo* list = nullptr;

  NameLookup() = default;
  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;
  ~NameLookup();

  /// False if no name server has answered: whether there is such a name is unknown.
  bool is_answered() const noexcept { return error != EAI_AGAIN; }

  /// As text, without duplicates.
  std::vector<std::string> addresses() const;
};

/// Takes only an IP address, and asks no name server.
std::shared_ptr<const NameLookup> look_up_address(const std::string& address, int port);

/// Takes a name or an IP address. Waits at most `limit`; then the error is EAI_AGAIN.
/// @throws Error{exchange_failed} if the limits of this process allow no thread that waits
std::shared_ptr<const NameLookup> look_up_name(const std::string& name, int port,
                                               std::chrono::milliseconds limit);

}  // namespace hpcboot
