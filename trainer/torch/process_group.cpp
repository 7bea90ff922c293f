#include "hpcboot/torch/process_group.hpp"

#include <torch/cuda.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "absent_ranks.hpp"
#include "compat.hpp"
#include "core/bounded_call.hpp"
#include "core/time_left.hpp"
#include "first_account.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/key_value_store.hpp"
#include "hpcboot/torch/collective_failure.hpp"
#include "nccl.hpp"
#include "rendezvous.hpp"
#include "rendezvous/store/rendezvous.hpp"
#include "wait_for_all.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;

// How long a destructor waits for a collective that is stuck.
constexpr milliseconds kReleaseLimit = std::chrono::seconds(5);
// What meet() gives the ranks to tell each other who is missing, beyond the deadline.
constexpr milliseconds kMeetingGrace = std::chrono::seconds(8);

std::string host_and_process() {
  return own_hostname() + " " + std::to_string(getpid());
}

/// Gloo writes to a rank that has left as to any other: without this, the signal ends the process
/// before it can say whom it lost. As Python does; a handler of the program's own stays.
void survive_broken_pipes() {
  struct sigaction now {};
  sigaction(SIGPIPE, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}

compat::GlooDevice make_device(const Resolution& resolution) {
  try {
    if (resolution.interface && resolution.placement.world_size > 1) {
      return compat::gloo_device_of_interface(*resolution.interface);
    }
    // Gloo's own choice, the address of this host's name, is no use where that does not resolve.
    return is_on_one_host(resolution.placement) ? compat::gloo_device_of_host("127.0.0.1")
                                                : compat::default_gloo_device();
  } catch (const std::exception& cause) {
    const std::string text = cause.what();
    throw Error(ErrorCode::no_usable_interface,
                "Gloo cannot use " +
                    (resolution.interface ? "the interface '" + *resolution.interface + "'"
                                          : std::string("the address of this host's name")) +
                    " (" + text.substr(0, text.find('\n')) + ")",
                "a network interface that is up and has an address",
                "set HPCBOOT_INTERFACE to one, see `hpcboot show`");
  }
}

int cuda_device(const Resolution& resolution) {
  return resolution.device.value_or(0);
}

void require_backend(const std::string& backend, const Resolution& resolution) {
  if (backend == "gloo") return;
  if (backend != "nccl") {
    throw Error(ErrorCode::backend_unavailable, "backend '" + backend + "'", "gloo or nccl",
                "choose one of these");
  }
  if (!has_nccl()) {
    throw Error(ErrorCode::backend_unavailable, "backend 'nccl', which this build lacks",
                "a LibTorch built for CUDA, 2.7 or newer",
                "use gloo, or build with such a LibTorch: setup/get-libtorch brings one");
  }
  const auto visible = static_cast<int>(torch::cuda::device_count());
  if (cuda_device(resolution) < visible) return;
  throw Error(ErrorCode::backend_unavailable,
              "no CUDA device: rank " + std::to_string(resolution.placement.rank) +
                  " is to use number " + std::to_string(cuda_device(resolution)) + ", and " +
                  std::to_string(visible) + " are visible",
              "a driver and a visible device for each rank, which NCCL connects",
              "use gloo, or look at nvidia-smi and CUDA_VISIBLE_DEVICES on this host");
}

c10::intrusive_ptr<c10d::ProcessGroup> connect_all(const Resolution& resolution,
                                                   const c10::intrusive_ptr<c10d::Store>& store,
                                                   const ProcessGroupOptions& options) {
  const Placement& placement = resolution.placement;
  const auto device = make_device(resolution);
  // Gloo connects every pair of ranks here and waits for each as long as for a collective, so a
  // rank that ends just now would be waited for far beyond the deadline.
  const auto group = std::make_shared<c10::intrusive_ptr<c10d::ProcessGroup>>();
  const bool connected = with_peers("start-up", [&] {
    return bounded_call(
        [=, timeout = options.collective_timeout, rank = placement.rank,
         world_size = placement.world_size] {
          *group = compat::make_gloo_group(store, rank, world_size, device, timeout);
        },
        options.start_up_deadline);
  });
  if (!connected) {
    throw Error(ErrorCode::deadline_exceeded,
                "not every rank could be connected with rank " + std::to_string(placement.rank) +
                    " within " + std::to_string(options.start_up_deadline.count()) + " ms",
                "ranks that reach each other on the interface " +
                    resolution.interface.value_or("of their host names"),
                "check for a rank that ended during start-up and for firewalls between the hosts; "
                "HPCBOOT_INTERFACE chooses another network");
  }
  return std::move(*group);
}

/// Drops what may be the last reference to an object whose destructor waits for others.
template <typename Pointer>
void release_bounded(Pointer& pointer) noexcept {
  if (!pointer) return;
  try {
    auto last = std::make_shared<Pointer>(std::move(pointer));
    bounded_call([last = std::move(last)] { last->reset(); }, kReleaseLimit);
  } catch (...) {
    // The ranks part either way, and a destructor has nobody to tell.
  }
}

/// What the ranks meet by. Shared with a call that may outlast its deadline.
struct OpenRendezvous {
  std::unique_ptr<KeyValueStore> kvs;
  Rendezvous rendezvous;

  OpenRendezvous() = default;
  OpenRendezvous(const OpenRendezvous&) = delete;
  OpenRendezvous& operator=(const OpenRendezvous&) = delete;
  /// LibTorch's store waits for its thread, which a stranger may hold up.
  ~OpenRendezvous() { release_bounded(rendezvous.store); }
};

/// Opens the store and calls the roll. Both have deadlines, but LibTorch's store only for some of
/// what it does: whoever connects to its port, sends half a request and stays, holds up its one
/// thread, and with it every rank.
std::shared_ptr<OpenRendezvous> meet(const Resolution& resolution, const Env& env,
                                     const ProcessGroupOptions& options) {
  const auto meeting = std::make_shared<OpenRendezvous>();
  const bool is_in_time = bounded_call(
      [meeting, resolution, env, store = options.store, deadline = options.start_up_deadline] {
        const auto end = std::chrono::steady_clock::now() + deadline;
        meeting->kvs = rendezvous::open_kvs_for(resolution, env, time_left(end));
        meeting->rendezvous =
            open_rendezvous(resolution, env, meeting->kvs.get(), store, time_left(end));
        const Placement& placement = resolution.placement;
        wait_for_all(*meeting->rendezvous.store, placement.rank, placement.world_size,
                     host_and_process(), resolution.hosts, time_left(end));
      },
      options.start_up_deadline + kMeetingGrace);
  if (is_in_time) return meeting;
  throw Error(ErrorCode::deadline_exceeded,
              "the store of the ranks did not answer within " +
                  std::to_string(options.start_up_deadline.count()) + " ms",
              "rank 0 to serve it, and nobody to connect to its port but the ranks",
              "look at the output of rank 0; with --store tcp a port scanner that keeps its "
              "connection holds up everybody: leave that out");
}

}  // namespace

// Members are destroyed in reverse: the meeting, whose exchange may wait for the launcher, goes
// last.
struct ProcessGroup::Impl {
  int rank = 0;
  int world_size = 1;
  bool with_nccl = false;
  std::shared_ptr<OpenRendezvous> meeting;
  c10::intrusive_ptr<c10d::ProcessGroup> group;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { release(); }

  c10::intrusive_ptr<c10d::Store> store() const {
    return meeting ? meeting->rendezvous.store : c10::intrusive_ptr<c10d::Store>();
  }

  /// Gloo's destructor waits for collectives that are under way, and one whose peer hangs would
  /// keep it until the collective times out.
  void release() noexcept {
    release_bounded(group);
    if (meeting) release_bounded(meeting->rendezvous.store);
  }
};

ProcessGroup::ProcessGroup(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProcessGroup::ProcessGroup(ProcessGroup&&) noexcept = default;
ProcessGroup& ProcessGroup::operator=(ProcessGroup&&) noexcept = default;
ProcessGroup::~ProcessGroup() = default;

int ProcessGroup::rank() const {
  return impl_->rank;
}
int ProcessGroup::world_size() const {
  return impl_->world_size;
}
const std::string& ProcessGroup::description() const {
  return impl_->meeting->rendezvous.description;
}

const std::string& ProcessGroup::warning() const {
  return impl_->meeting->rendezvous.warning;
}

const c10::intrusive_ptr<c10d::ProcessGroup>& ProcessGroup::c10d_group() const {
  return impl_->group;
}

void ProcessGroup::barrier(milliseconds deadline) {
  with_peers("a barrier", [&] { impl_->group->barrier()->wait(deadline); });
}

std::vector<int> ProcessGroup::absent_ranks(milliseconds wait) noexcept {
  if (!impl_->store()) return {};
  return hpcboot::absent_ranks(impl_->store(), impl_->rank, impl_->world_size, wait);
}

std::string ProcessGroup::first_account(const std::function<std::string()>& look,
                                        milliseconds wait) noexcept {
  if (!impl_->store()) return {};
  return hpcboot::first_account(impl_->store(), look, wait);
}

void ProcessGroup::shutdown() {
  if (!impl_->group) return;
  barrier();
  if (impl_->with_nccl) {
    with_peers("the end of NCCL", [&] { end_nccl(impl_->group); });
    // Its monitor asks the store until now, which rank 0 may serve.
    barrier();
  }
  impl_->release();
}

ProcessGroup make_process_group(const Resolution& resolution, const Env& env,
                                const ProcessGroupOptions& options) {
  require_backend(options.backend, resolution);
  validate(resolution.placement, resolution.launcher);
  survive_broken_pipes();
  auto impl = std::make_unique<ProcessGroup::Impl>();
  impl->rank = resolution.placement.rank;
  impl->world_size = resolution.placement.world_size;
  impl->meeting = meet(resolution, env, options);
  impl->group = connect_all(resolution, impl->store(), options);
  if (options.backend == "nccl") {
    add_nccl(*impl->group, impl->store(), cuda_device(resolution), options.start_up_deadline,
             options.collective_timeout);
    impl->with_nccl = true;
  }
  return ProcessGroup(std::move(impl));
}

}  // namespace hpcboot
