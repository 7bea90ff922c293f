#include "app/drawing.hpp"

#include <unistd.h>

#include <string>

#include "app/verbs.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {
namespace {

/// Of a split: a set is made in memory.
constexpr std::int64_t kMostDrawn = 10'000'000;

}  // namespace

void check_drawn(std::int64_t train, std::int64_t test) {
  for (const std::int64_t count : {train, test}) {
    if (count < 1 || count > kMostDrawn)
      throw UsageError("--train and --test must be from 1 to " + std::to_string(kMostDrawn));
  }
}

std::function<void(std::int64_t, std::int64_t)> drawing_progress(const char* what) {
  if (isatty(STDERR_FILENO) != 1) return nullptr;
  return [what](std::int64_t done, std::int64_t total) {
    err() << "\rdrawing " << what << ": " << 100 * done / total << "%";
    if (done == total) err() << "\n";
    err().flush();
  };
}

}  // namespace hpcboot::app
