#pragma once

#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "hpcboot/error.hpp"

namespace hpcboot {

/// Classifies an exception thrown by c10d or Gloo: peer_lost if a connection broke,
/// deadline_exceeded if a peer did not answer; nullopt for everything else, including an Error.
/// @param doing the operation under way, for the message: "the backward pass"
std::optional<Error> collective_failure(const std::exception& cause, std::string_view doing);

/// Runs `body`. A failure because a peer is gone is rethrown as an Error; any other exception
/// passes unchanged. For calls of c10d's own collectives; those of this library do it themselves.
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
