#include "lost_hosts.hpp"

#include <algorithm>
#include <cerrno>
#include <future>

#include "rendezvous/store/place.hpp"

namespace hpcboot::run {
namespace {

using rendezvous::Clock;

constexpr int kSshPort = 22;
constexpr std::size_t kMostAsked = 64;  // one thread each; more hosts do not die at once

bool is_dead(const std::string& host, Clock::time_point end) {
  std::string reason;
  errno = 0;
  const rendezvous::Socket socket = rendezvous::connect_to({host, kSshPort}, end, reason);
  const int error = errno;
  return !socket.is_open() && (error == ETIMEDOUT || error == EHOSTUNREACH || error == EHOSTDOWN);
}

}  // namespace

std::vector<std::string> silent_hosts(const std::vector<HostWords>& hosts) {
  std::vector<std::string> silent;
  for (const HostWords& host : hosts) {
    if (host.begun > 0 && host.ended == 0) silent.push_back(host.host);
  }
  return silent;
}

std::vector<std::string> dead_hosts(const std::vector<std::string>& hosts,
                                    std::chrono::milliseconds patience) {
  const auto end = Clock::now() + patience;
  std::vector<std::future<bool>> answers;
  for (std::size_t i = 0; i < std::min(hosts.size(), kMostAsked); ++i)
    answers.push_back(std::async(std::launch::async, is_dead, hosts[i], end));
  std::vector<std::string> dead;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].get()) dead.push_back(hosts[i]);
  }
  return dead;
}

}  // namespace hpcboot::run
