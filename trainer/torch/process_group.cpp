#include "hpcboot/torch/process_group.hpp"

#include <numeric>
#include <string>
#include <utility>

#include "absent_ranks.hpp"
#include "barrier.hpp"
#include "core/bounded_call.hpp"
#include "first_account.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/collective_failure.hpp"
#include "nccl.hpp"
#include "process_group_impl.hpp"
#include "release.hpp"

namespace hpcboot {

using std::chrono::milliseconds;

ProcessGroup::Impl::~Impl() {
  release();
}

void ProcessGroup::Impl::contain_all(int own_rank, int ranks) {
  rank = own_rank;
  world_size = ranks;
  global_ranks.resize(static_cast<std::size_t>(ranks));
  std::iota(global_ranks.begin(), global_ranks.end(), 0);
}

const c10::intrusive_ptr<c10d::ProcessGroup>& ProcessGroup::Impl::open_group() const {
  if (group) return group;
  throw Error(ErrorCode::invalid_collective, "the use of a process group after its shutdown()",
              "a group that is connected", "call shutdown() after the last use of the group");
}

void ProcessGroup::Impl::connect() {
  // Gloo connects every pair of ranks here and waits for each as long as for a collective, so it
  // would wait far beyond the deadline for a rank that ends now.
  const auto connected = std::make_shared<c10::intrusive_ptr<c10d::ProcessGroup>>();
  const bool is_in_time = with_peers("start-up", [&] {
    return bounded_call(
        [connected, own_store = store, own_rank = rank, ranks = world_size, own_device = device,
         timeout = collective_timeout] {
          *connected = compat::make_gloo_group(own_store, own_rank, ranks, own_device, timeout);
        },
        start_up_deadline);
  });
  if (!is_in_time) {
    throw Error(ErrorCode::deadline_exceeded,
                "not every rank could be connected to rank " + std::to_string(rank) + " within " +
                    std::to_string(start_up_deadline.count()) + " ms",
                "ranks that can reach each other on the network that they use",
                "check for a rank that ended during start-up and for firewalls between the hosts; "
                "choose another network with HPCBOOT_INTERFACE");
  }
  group = std::move(*connected);
  if (nccl_device) {
    add_nccl(*group, store, *nccl_device, start_up_deadline, collective_timeout);
  }
}

void ProcessGroup::Impl::release() noexcept {
  release_bounded(group);
  release_bounded(store);
  // Subgroups may use it further.
  if (meeting.use_count() == 1) release_bounded(meeting->rendezvous.store);
}

ProcessGroup::ProcessGroup(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProcessGroup::ProcessGroup(const ProcessGroup&) = default;
ProcessGroup& ProcessGroup::operator=(const ProcessGroup&) = default;
ProcessGroup::ProcessGroup(ProcessGroup&&) noexcept = default;
ProcessGroup& ProcessGroup::operator=(ProcessGroup&&) noexcept = default;
ProcessGroup::~ProcessGroup() = default;

int ProcessGroup::rank() const {
  return impl_->rank;
}
int ProcessGroup::world_size() const {
  return impl_->world_size;
}
const std::vector<int>& ProcessGroup::global_ranks() const {
  return impl_->global_ranks;
}
const std::string& ProcessGroup::description() const {
  return impl_->description;
}
const std::string& ProcessGroup::warning() const {
  return impl_->warning;
}

std::int64_t ProcessGroup::contributed_bytes() const {
  return *impl_->contributed;
}

const c10::intrusive_ptr<c10d::ProcessGroup>& ProcessGroup::c10d_group() const {
  return impl_->open_group();
}

void ProcessGroup::barrier(std::optional<milliseconds> deadline) {
  const auto& group = impl_->open_group();
  milliseconds limit = deadline.value_or(impl_->collective_timeout);
  // That of an adopted group is unknown.
  if (impl_->meeting) limit = std::min(limit, impl_->collective_timeout);
  named_barrier(*group, impl_->store, ++impl_->barriers, impl_->global_ranks, limit);
}

std::vector<int> ProcessGroup::absent_ranks(milliseconds wait) noexcept {
  if (!impl_->store) return {};
  return hpcboot::absent_ranks(impl_->store, impl_->rank, impl_->world_size, wait);
}

std::string ProcessGroup::first_account(const std::function<std::string()>& look,
                                        milliseconds wait) noexcept {
  if (!impl_->store) return {};
  return hpcboot::first_account(impl_->store, look, wait);
}

void ProcessGroup::shutdown() {
  if (!impl_->group) return;
  barrier();
  if (impl_->nccl_device) {
    with_peers("the end of NCCL", [&] { end_nccl(impl_->group); });
    // NCCL's monitor uses the store, which rank 0 may serve, until now.
    barrier();
  }
  impl_->release();
}

}  // namespace hpcboot
