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
// How long, beyond the deadline, meet() lets the ranks tell each other which ranks are missing.
constexpr milliseconds kMeetingGrace = std::chrono::seconds(8);

std::string host_and_process() {
  return own_hostname() + " " + std::to_string(getpid());
}

/// Gloo also writes to ranks that have left: without this, the signal would end the process before
/// it can report the lost rank. Python does the same; the program's own handler is kept.
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
    // Gloo's default, the address of this host's name, fails if that name does not resolve.
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
                "use gloo, or build with such a LibTorch: setup/get-libtorch downloads one");
  }
  const auto visible = static_cast<int>(torch::cuda::device_count());
  if (cuda_device(resolution) < visible) return;
  throw Error(ErrorCode::backend_unavailable,
              "no CUDA device: rank " + std::to_string(resolution.placement.rank) +
                  " needs device " + std::to_string(cuda_device(resolution)) + ", but " +
                  std::to_string(visible) + " are visible",
              "a driver, and a visible device for each rank that NCCL connects",
              "use gloo, or check nvidia-smi and CUDA_VISIBLE_DEVICES on this host");
}

c10::intrusive_ptr<c10d::ProcessGroup> connect_all(const Resolution& resolution,
                                                   const c10::intrusive_ptr<c10d::Store>& store,
                                                   const ProcessGroupOptions& options) {
  const Placement& placement = resolution.placement;
  const auto device = make_device(resolution);
  // Gloo connects every pair of ranks here and waits for each as long as for a collective, so it
  // would wait far beyond the deadline for a rank that ends now.
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
                "not every rank could be connected to rank " + std::to_string(placement.rank) +
                    " within " + std::to_string(options.start_up_deadline.count()) + " ms",
                "ranks that can reach each other on the interface " +
                    resolution.interface.value_or("of their host names"),
                "check for a rank that ended during start-up and for firewalls between the hosts; "
                "choose another network with HPCBOOT_INTERFACE");
  }
  return std::move(*group);
}

/// Drops what may be the last reference to an object whose destructor waits for other ranks.
template <typename Pointer>
void release_bounded(Pointer& pointer) noexcept {
  if (!pointer) return;
  try {
    auto last = std::make_shared<Pointer>(std::move(pointer));
    bounded_call([last = std::move(last)] { last->reset(); }, kReleaseLimit);
  } catch (...) {
    // The ranks separate either way, and a destructor cannot report an error.
  }
}

/// The state of the rendezvous. Shared with a call that may outlast its deadline.
struct OpenRendezvous {
  std::unique_ptr<KeyValueStore> kvs;
  Rendezvous rendezvous;

  OpenRendezvous() = default;
  OpenRendezvous(const OpenRendezvous&) = delete;
  OpenRendezvous& operator=(const OpenRendezvous&) = delete;
  /// LibTorch's store waits for its thread, which an unauthenticated peer may block.
  ~OpenRendezvous() { release_bounded(rendezvous.store); }
};

/// Opens the store and waits for all ranks. Both steps have deadlines, but LibTorch's store honours
/// them only in part: a peer that connects to its port, sends half a request and stays connected
/// blocks its only thread, and thereby every rank.
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
              "the ranks' store did not answer within " +
                  std::to_string(options.start_up_deadline.count()) + " ms",
              "rank 0 to serve it, and only ranks to connect to its port",
              "check the output of rank 0; with --store tcp, a port scanner that keeps its "
              "connection open blocks all ranks: omit that option");
}

}  // namespace

// Members are destroyed in reverse order: the meeting, whose exchange may wait for the launcher, is
// destroyed last.
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

  /// Gloo's destructor waits for collectives under way; if a peer hangs, it would wait until the
  /// collective times out.
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
    // NCCL's monitor uses the store, which rank 0 may serve, until now.
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
