#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hpcboot/error.hpp"
#include "rendezvous/store/client.hpp"
#include "rendezvous/store/server.hpp"

// A store on this machine, and its ranks.
namespace hpcboot::rendezvous::test {

using namespace std::chrono_literals;

inline World a_world(std::uint32_t size, std::string identity = "job 7") {
  return {std::move(identity), size, Secret("the secret of this launch, 32 by")};
}

inline Place a_place() {
  return {"127.0.0.1", 0};
}

inline Place a_local_place() {
  static std::atomic<int> count{0};
  return {"@hpcboot-test-" + std::to_string(getpid()) + "-" + std::to_string(++count), 0};
}

inline std::unique_ptr<Client> join(const Server& server, const World& world, std::uint32_t rank,
                                    std::chrono::milliseconds limit = 5s) {
  return Client::connect({server.place()}, {world, rank}, Clock::now() + limit);
}

inline std::vector<std::string> get(Client& client, const std::vector<std::string>& keys,
                                    std::chrono::milliseconds limit = 5s) {
  std::vector<std::string> values;
  std::vector<std::string> missing;
  EXPECT_TRUE(client.get(keys, Clock::now() + limit, values, missing));
  return values;
}

inline ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::malformed_value;
}

}  // namespace hpcboot::rendezvous::test
