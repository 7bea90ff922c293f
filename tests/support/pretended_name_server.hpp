#pragma once

namespace hpcboot::test {

/// While it exists, getaddrinfo(3) finds no name, only IP addresses. The program must have
/// pretended_name_server.cpp among its sources.
class PretendedNameServer {
 public:
  enum class Answers {
    no_such_name,
    never,             ///< and getaddrinfo gives up at once
    never_and_awaited  ///< getaddrinfo waits as long as this exists
  };

  explicit PretendedNameServer(Answers answers);
  ~PretendedNameServer();
  PretendedNameServer(const PretendedNameServer&) = delete;
  PretendedNameServer& operator=(const PretendedNameServer&) = delete;
};

}  // namespace hpcboot::test
