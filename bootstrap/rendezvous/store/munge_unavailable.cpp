#include "munge.hpp"

namespace hpcboot::rendezvous {

namespace {
constexpr const char* kReason = "MUNGE: this build has no MUNGE support (libmunge-dev)";
}

std::optional<std::string> seal_by_munge(const Secret&, const std::string&, std::string& reason) {
  reason = kReason;
  return std::nullopt;
}

std::optional<Secret> open_by_munge(const std::string&, const std::string&, std::string& reason) {
  reason = kReason;
  return std::nullopt;
}

bool munge_is_there() {
  return false;
}

}  // namespace hpcboot::rendezvous
