#pragma once

#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "hpcboot/error.hpp"

namespace hpcboot {

/// What an exception out of c10d or Gloo means: peer_lost where a connection broke,
/// deadline_exceeded where a peer kept silent; nullopt for everything else, an Error included.
/// @param doing what was going on, for the message: "the backward pass"
std::optional<Error> collective_failure(const std::exception& cause, std::string_view doing);

/// Runs `body`. Where it fails because a peer is gone, that leaves as an Error; everything else
/// passes unchanged. Needed around `loss.backward()`, where the gradients are exchanged.
/// @throws Error{peer_lost, deadline_exceeded} and what `body` throws
template <typename Body>
decltype(auto) with_peers(std::string_view doing, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::exception& cause) {
    if (const std::optional<Error> error = collective_failure(cause, doing)) throw Error(*error);
    throw;
  }
}

}  // namespace hpcboot
