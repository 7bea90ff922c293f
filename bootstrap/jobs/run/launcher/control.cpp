#include "control.hpp"

#include <algorithm>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

#include "bell.hpp"
#include "control_keys.hpp"
#include "core/start_thread.hpp"
#include "hpcboot/error.hpp"
#include "jobs/run/agents/agent_messages.hpp"
#include "rendezvous/store/client.hpp"
#include "rendezvous/store/server.hpp"

namespace hpcboot::run {

const char* const kControlVariable = "HPCBOOT_RUN_CONTROL";

namespace {

using namespace rendezvous;
using namespace control;

constexpr auto kTick = std::chrono::milliseconds(20);

}  // namespace

struct Control::Impl {
  std::unique_ptr<Server> server;
  std::unique_ptr<Client> client;
  int sent = 0;
  std::int64_t signs = 0;
  Bell bell;
  mutable std::mutex mutex;
  std::optional<RankEnd> first;
  std::thread listener;

  // Empty if the key is not set. @throws Error
  std::string text_of(const char* key) const {
    std::vector<std::string> values;
    std::vector<std::string> missing;
    return client->get({key}, Clock::now(), values, missing) ? values.front() : "";
  }
  std::ptrdiff_t count_lines(const char* key) const {
    const std::string text = text_of(key);
    return std::count(text.begin(), text.end(), '\n');
  }

  void listen() {
    try {
      std::vector<std::string> values;
      std::vector<std::string> missing;
      while (!client->get({kFirstEnd}, Clock::now() + kPatience, values, missing)) missing.clear();
      if (values.front().empty()) return;  // the destructor ends this thread
      const std::lock_guard<std::mutex> lock(mutex);
      first = read_end(values.front());
    } catch (const std::exception&) {
      return;  // the launcher's exit code must suffice
    }
    bell.ring();
  }
};

Control::Control(const Handover& handover, const std::string& address)
    : impl_(std::make_unique<Impl>()) {
  Member member = member_of(handover, handover.world_size);
  impl_->server = Server::start({address, 0}, member.world);
  if (!impl_->server) impl_->server = Server::start({"", 0}, member.world);
  if (!impl_->server) {
    throw Error(ErrorCode::exchange_failed, "cannot listen on any port of " + address,
                "an address of this host", "set HPCBOOT_INTERFACE to an interface of this host");
  }
  Place place = impl_->server->place();
  if (place.address.empty()) place.address = "127.0.0.1";
  impl_->client =
      Client::connect({place}, std::move(member), Clock::now() + std::chrono::seconds(10));
  impl_->listener = start_thread([this] { impl_->listen(); });
}

Control::~Control() {
  try {
    impl_->client->compare_set(kFirstEnd, "", "");
  } catch (const Error&) {
    impl_->server.reset();  // also ends the wait
  }
  impl_->listener.join();
}

std::map<std::string, std::string> Control::variables() const {
  const Place& place = impl_->server->place();
  return {{kControlVariable, std::to_string(place.port) + " " + place.address}};
}

void Control::send(int signal) {
  impl_->client->set(key_of_signal(++impl_->sent), std::to_string(signal));
}

void Control::ask_for_signs() {
  send(kAskForSigns);
}

bool Control::has_new_signs() {
  try {
    const std::int64_t now = impl_->client->add(kSigns, 0);
    return std::exchange(impl_->signs, now) != now;
  } catch (const Error&) {
    return true;  // unknown
  }
}

bool Control::are_stacks_written() const {
  try {
    Client& client = *impl_->client;
    return client.add(kStacks, 0) >= client.add(kStarted, 0);
  } catch (const Error&) {
    return true;  // unknown
  }
}

int Control::fd() const {
  return impl_->bell.fd();
}

std::optional<RankEnd> Control::first_failure() const {
  impl_->bell.silence();
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->first;
}

std::optional<RankEnd> Control::first_end_when_told() const {
  try {
    const std::string text = impl_->text_of(kFirstToldEnd);
    if (text.empty()) return std::nullopt;
    return read_end(text);
  } catch (const std::exception&) {
    return std::nullopt;  // the launcher's exit code must suffice
  }
}

std::vector<HostWords> Control::words_of_hosts() const {
  std::map<std::string, HostWords> words;
  try {
    std::istringstream begun(impl_->text_of(kBegun));
    for (std::string host; std::getline(begun, host); ++words[host].begun) words[host].host = host;
    std::istringstream ended(impl_->text_of(kEnded));
    for (std::string host; std::getline(ended, host);) ++words[host].ended;
  } catch (const Error&) {
    return {};  // unknown
  }
  std::vector<HostWords> all;
  for (const auto& [host, word] : words) all.push_back(word);
  return all;
}

bool Control::has_ranks() const {
  try {
    return impl_->client->check({kBegun});
  } catch (const Error&) {
    return false;
  }
}

bool Control::have_all_ended(int world_size) const {
  try {
    return impl_->count_lines(kEnded) >= world_size;
  } catch (const Error&) {
    return false;  // unknown
  }
}

bool Control::await_ranks(std::chrono::milliseconds patience) {
  const auto end = Clock::now() + patience;
  try {
    while (impl_->count_lines(kEnded) < impl_->count_lines(kBegun)) {
      if (Clock::now() >= end) return false;
      std::this_thread::sleep_for(kTick);
    }
  } catch (const Error&) {
    return false;  // unknown
  }
  return true;
}

}  // namespace hpcboot::run
