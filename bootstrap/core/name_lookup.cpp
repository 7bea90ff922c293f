#include "name_lookup.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "bounded_call.hpp"

namespace hpcboot {
namespace {

std::shared_ptr<NameLookup> addresses_for(const std::string& name, int port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  auto lookup = std::make_shared<NameLookup>();
  lookup->error = getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &lookup->list);
  return lookup;
}

}  // namespace

NameLookup::~NameLookup() {
  if (list != nullptr) freeaddrinfo(list);
}

std::vector<std::string> NameLookup::addresses() const {
  std::vector<std::string> all;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) == 0 &&
        std::find(all.begin(), all.end(), text.data()) == all.end())
      all.emplace_back(text.data());
  }
  return all;
}

std::shared_ptr<const NameLookup> look_up_address(const std::string& address, int port) {
  return addresses_for(address, port, AI_NUMERICHOST);
}

std::shared_ptr<const NameLookup> look_up_name(const std::string& name, int port,
                                               std::chrono::milliseconds limit) {
  if (auto numeric = look_up_address(name, port); numeric->error == 0) return numeric;
  const auto found = std::make_shared<std::shared_ptr<NameLookup>>();
  const bool in_time =
      bounded_call([found, name, port] { *found = addresses_for(name, port, 0); }, limit);
  return in_time ? *found : std::make_shared<NameLookup>();
}

}  // namespace hpcboot
