#include <atomic>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "bell.hpp"
#include "control.hpp"
#include "control_keys.hpp"
#include "core/start_thread.hpp"
#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "jobs/run/agents/agent_messages.hpp"
#include "rendezvous/store/client.hpp"
#include "rendezvous/store/store_kvs.hpp"

namespace hpcboot::run {
namespace {

using namespace rendezvous;
using namespace control;

constexpr auto kTimeToReturn = std::chrono::seconds(3);

}  // namespace

struct ControlLink::Impl {
  // The waiting thread may outlive the link and shares ownership of what it uses.
  struct Shared {
    Place place;
    Member member;
    std::shared_ptr<Client> client;
    Bell bell;
    std::mutex mutex;
    std::deque<int> signals;
    bool is_lost = false;
    std::atomic<bool> has_sign = false;
    int next = 1;

    void listen() {
      while (true) {
        try {
          take_all();
        } catch (const Error&) {
          if (is_there_again()) continue;
          const std::lock_guard<std::mutex> lock(mutex);
          is_lost = true;
          bell.ring();
          return;
        }
      }
    }

   private:
    void take_all() {
      for (;; ++next) {
        std::vector<std::string> values;
        std::vector<std::string> missing;
        while (!client->get({key_of_signal(next)}, Clock::now() + kPatience, values, missing))
          missing.clear();
        const auto signal = parse_whole_number(values.front());
        if (signal == kAskForSigns) tell_of_signs();
        if (!signal || *signal < 1 || (*signal > 64 && *signal != kStacksOrder)) continue;
        const std::lock_guard<std::mutex> lock(mutex);
        signals.push_back(static_cast<int>(*signal));
        bell.ring();
      }
    }

    // In this thread, so that the rank's output never waits for an answer.
    void tell_of_signs() {
      if (!has_sign) return;
      client->add(kSigns, 1);
      has_sign = false;
    }

    // A device between the hosts may have dropped a connection after a long idle time.
    bool is_there_again() const {
      try {
        Client::connect({place}, member, Clock::now() + kTimeToReturn);
        return true;
      } catch (const Error&) {
        return false;
      }
    }
  };
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  bool has_told_of_stacks = false;

  // Once for each rank.
  void count_stacks() {
    if (!std::exchange(has_told_of_stacks, true)) shared->client->add(kStacks, 1);
  }
};

ControlLink::ControlLink(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ControlLink::~ControlLink() = default;

std::unique_ptr<ControlLink> ControlLink::open(const Env& env, const Handover& handover, int rank,
                                               std::chrono::milliseconds deadline) {
  const std::string text(env.text(kControlVariable).value_or(""));
  const std::size_t space = text.find(' ');
  const auto port = parse_whole_number(std::string_view(text).substr(0, space));
  if (space == std::string::npos || !port || *port < 1 || *port > 65535) return nullptr;
  const std::string address = text.substr(space + 1);
  const Place place{address.empty() ? "127.0.0.1" : address, static_cast<int>(*port)};
  auto impl = std::make_unique<Impl>();
  try {
    Member member = member_of(handover, rank);
    impl->shared->place = place;
    impl->shared->member = member;
    impl->shared->client = Client::connect({place}, std::move(member), end_after(deadline));
    impl->shared->client->add(kStarted, 1);
    impl->shared->client->append(kBegun, own_hostname() + "\n");
  } catch (const Error& error) {
    throw Error(ErrorCode::exchange_failed,
                "rank " + std::to_string(rank) + " on " + own_hostname() +
                    " cannot reach hpcboot run at " + place.text() + " (" + error.found() + ")",
                "a network route from that host to the host of hpcboot run",
                "set HPCBOOT_INTERFACE to an interface of hpcboot run's host that the ranks reach");
  }
  start_thread([shared = impl->shared] { shared->listen(); }).detach();
  return std::unique_ptr<ControlLink>(new ControlLink(std::move(impl)));
}

std::unique_ptr<KeyValueStore> ControlLink::kvs(int rank, int world_size) const {
  const auto& client = impl_->shared->client;
  return kvs_over({nullptr, nullptr, client, "hpcboot run at " + client->place().text()}, rank,
                  world_size);
}

void ControlLink::tell_address(const std::string& address) {
  impl_->shared->client->set(kAddressOfRank0, address);
}

std::string ControlLink::address_of_rank0(std::chrono::milliseconds deadline) const {
  std::vector<std::string> values;
  std::vector<std::string> missing;
  if (impl_->shared->client->get({kAddressOfRank0}, end_after(deadline), values, missing))
    return values.front();
  throw Error(ErrorCode::deadline_exceeded,
              "rank 0 did not start within " + std::to_string(deadline.count()) + " ms",
              "all ranks of the launch", "check the output of rank 0 and its host");
}

bool ControlLink::has_all_ranks(int world_size) const {
  return impl_->shared->client->add(kStarted, 0) >= world_size;
}

void ControlLink::tell_staged(int world_size) {
  if (impl_->shared->client->add(kStaged, 1) == world_size)
    impl_->shared->client->set(kAllStaged, "");
}

bool ControlLink::are_all_staged(std::chrono::milliseconds patience) const {
  std::vector<std::string> missing;
  return impl_->shared->client->wait({kAllStaged}, Clock::now() + patience, missing);
}

int ControlLink::fd() const {
  return impl_->shared->bell.fd();
}

bool ControlLink::is_lost() const {
  const std::lock_guard<std::mutex> lock(impl_->shared->mutex);
  return impl_->shared->is_lost;
}

std::optional<int> ControlLink::take_signal() {
  impl_->shared->bell.silence();
  const std::lock_guard<std::mutex> lock(impl_->shared->mutex);
  std::deque<int>& signals = impl_->shared->signals;
  if (signals.empty()) return std::nullopt;
  const int signal = signals.front();
  signals.pop_front();
  return signal;
}

void ControlLink::note_sign() {
  impl_->shared->has_sign = true;
}

void ControlLink::tell_stacks_are_written() {
  try {
    impl_->count_stacks();
  } catch (const Error&) {
    // `run` does not wait forever.
  }
}

void ControlLink::report(const RankEnd& end) {
  try {
    if (end.is_failure()) {
      impl_->shared->client->compare_set(end.was_told ? kFirstToldEnd : kFirstEnd, "",
                                         to_payload(end));
    }
    impl_->shared->client->append(kEnded, own_hostname() + "\n");
    impl_->count_stacks();
  } catch (const Error&) {
    // The launcher sees the exit code.
  }
}

}  // namespace hpcboot::run
