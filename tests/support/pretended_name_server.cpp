#include "support/pretended_name_server.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <mutex>
#include <optional>

namespace {

using Answers = hpcboot::test::PretendedNameServer::Answers;

// Not destroyed: a detached thread may still use them.
std::mutex& mutex = *new std::mutex;
std::condition_variable& changed = *new std::condition_variable;
std::optional<Answers> pretended;

void pretend(std::optional<Answers> answers) {
  const std::lock_guard<std::mutex> lock(mutex);
  pretended = answers;
  changed.notify_all();
}

}  // namespace

// Replaces the C library's function in this program.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved
extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* name,
                                                                  const char* service,
                                                                  const addrinfo* hints,
                                                                  addrinfo** list) {
  static const auto next =
      reinterpret_cast<decltype(&::getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  const bool is_numeric = hints != nullptr && (hints->ai_flags & AI_NUMERICHOST) != 0;
  if (!is_numeric) {
    std::unique_lock<std::mutex> lock(mutex);
    if (pretended == Answers::no_such_name) return EAI_NONAME;
    if (pretended) {
      changed.wait(lock, [] { return pretended != Answers::never_and_awaited; });
      return EAI_AGAIN;
    }
  }
  return next(name, service, hints, list);
}

namespace hpcboot::test {

PretendedNameServer::PretendedNameServer(Answers answers) {
  pretend(answers);
}

PretendedNameServer::~PretendedNameServer() {
  pretend(std::nullopt);
}

}  // namespace hpcboot::test
