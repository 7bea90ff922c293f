#include "hpcboot/torch/collective_failure.hpp"

#include <array>
#include <string>

#include "texts.hpp"

namespace hpcboot {
namespace {

bool mentions(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <typename Parts>
bool mentions_any(std::string_view text, const Parts& parts) {
  for (const std::string_view part : parts) {
    if (mentions(text, part)) return true;
  }
  return false;
}

// c10d has no exception class for these: after passing through the autograd engine and futures, a
// gloo::IoException is an ordinary std::runtime_error or c10::Error, recognisable by its text only.
constexpr std::array<std::string_view, 8> kBrokenConnection{"Connection closed by peer",
                                                            "Connection reset by peer",
                                                            "Broken pipe",
                                                            "Connection refused",
                                                            "Socket closed",
                                                            "connection was aborted",
                                                            "writev",
                                                            "ncclRemoteError"};
// The last is what Gloo reports to the other collectives under way when one of this rank times out.
constexpr std::array<std::string_view, 6> kSilence{
    "collective operation timeout", "Timed out waiting",
    "Operation timed out",          "Socket Timeout",
    "wait timeout after",           "Application timeout caused pair closure"};

}  // namespace

std::optional<Error> collective_failure(const std::exception& cause, std::string_view doing) {
  if (dynamic_cast<const Error*>(&cause) != nullptr) return std::nullopt;
  const std::string_view text = cause.what();
  if (mentions_any(text, kBrokenConnection)) {
    return Error(
        ErrorCode::peer_lost,
        "a connection to another rank broke during " + std::string(doing) + " (" +
            first_line(text) + ")",
        "every rank to stay connected until the end",
        "check the logs of the other ranks for the first error; a rank that was killed for its "
        "memory or time limit leaves none");
  }
  if (mentions_any(text, kSilence)) {
    return Error(
        ErrorCode::deadline_exceeded,
        "no answer from another rank during " + std::string(doing) + " (" + first_line(text) + ")",
        "every rank to join the collective in time",
        "look for a rank that hangs or runs something else; if ranks are only slow, increase the "
        "collective timeout");
  }
  return std::nullopt;
}

}  // namespace hpcboot
