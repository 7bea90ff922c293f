// Groups of some ranks of another group, and groups that the program made itself.
#include <ATen/Functions.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "gloo_device.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "meeting.hpp"
#include "process_group_impl.hpp"
#include "rendezvous/store/secret.hpp"
#include "texts.hpp"
#include "wait_for_all.hpp"

namespace hpcboot {
namespace {

/// The same for equal lists, and short: it is part of every key of the subgroup, and the store
/// limits their length.
std::string digest_of(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) text += std::to_string(rank) + ",";
  return rendezvous::digest_of(text);
}

void require_ranks(const std::vector<int>& ranks, int world_size) {
  const std::set<int> distinct(ranks.begin(), ranks.end());
  const bool in_range = std::all_of(ranks.begin(), ranks.end(),
                                    [&](int rank) { return rank >= 0 && rank < world_size; });
  if (!ranks.empty() && in_range && distinct.size() == ranks.size()) return;
  throw Error(ErrorCode::invalid_collective,
              "a subgroup of " + (ranks.empty() ? "no ranks" : names_of(ranks)),
              "ranks from 0 to " + std::to_string(world_size - 1) + ", at least one, each once",
              "pass ranks of the group that is divided");
}

/// The rank in the subgroup; none for a rank that does not belong to it.
std::optional<int> position(const std::vector<int>& ranks, int rank) {
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  if (found == ranks.end()) return std::nullopt;
  return static_cast<int>(found - ranks.begin());
}

/// Names the ranks of the subgroup that do not come. The deadline of the start-up applies.
void wait_for_members(ProcessGroupAccess::Impl& group) {
  try {
    wait_for_all(*group.store, group.rank, group.world_size, host_and_process(), {},
                 group.start_up_deadline);
  } catch (const Error& error) {
    throw Error(error.code(),
                error.found() + ", counted in the subgroup of " + names_of(group.global_ranks) +
                    " of the launch",
                "every rank of the subgroup to call subgroup() or split()", error.remedy());
  }
}

}  // namespace

std::optional<ProcessGroup> ProcessGroup::subgroup(const std::vector<int>& ranks) {
  Impl& parent = *impl_;
  parent.open_group();
  require_ranks(ranks, parent.world_size);
  const std::optional<int> own = position(ranks, parent.rank);
  if (!own) return std::nullopt;
  if (!parent.store) {
    throw Error(ErrorCode::invalid_collective, "a subgroup of an adopted group without a store",
                "the store through which its ranks met",
                "pass the store to adopt_process_group() as well");
  }
  // All of its ranks, and no other, agree on the name: they make the same subgroups in one order.
  const std::string members = digest_of(ranks);
  const std::string name = "group/" + members + "/" + std::to_string(++parent.subgroups[members]);

  auto impl = std::make_shared<Impl>();
  impl->rank = *own;
  impl->world_size = static_cast<int>(ranks.size());
  for (const int rank : ranks) {
    impl->global_ranks.push_back(parent.global_ranks[static_cast<std::size_t>(rank)]);
  }
  impl->description = names_of(ranks) + " of: " + parent.description;
  impl->meeting = parent.meeting;
  impl->contributed = parent.contributed;
  impl->store = c10::make_intrusive<c10d::PrefixStore>(name, parent.store);
  if (!parent.device) parent.device = make_gloo_device(parent.interface, /*on_one_host=*/false);
  impl->device = parent.device;
  impl->nccl_device = parent.nccl_device;
  impl->start_up_deadline = parent.start_up_deadline;
  impl->collective_timeout = parent.collective_timeout;
  wait_for_members(*impl);
  impl->connect();
  return ProcessGroup(std::move(impl));
}

ProcessGroup ProcessGroup::split(int color, int key) {
  const at::Tensor mine = at::empty({2}, at::kLong);
  mine[0] = color;
  mine[1] = key;
  std::vector<std::pair<std::int64_t, int>> members;  // key, rank
  const std::vector<at::Tensor> all = all_gather(*this, mine).wait();
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank][0].item<std::int64_t>() != color) continue;
    members.emplace_back(all[rank][1].item<std::int64_t>(), static_cast<int>(rank));
  }
  std::sort(members.begin(), members.end());
  std::vector<int> ranks;
  for (const auto& member : members) ranks.push_back(member.second);
  return *subgroup(ranks);
}

ProcessGroup adopt_process_group(const c10::intrusive_ptr<c10d::ProcessGroup>& group) {
  return adopt_process_group(group, {}, {});
}

ProcessGroup adopt_process_group(const c10::intrusive_ptr<c10d::ProcessGroup>& group,
                                 const c10::intrusive_ptr<c10d::Store>& store,
                                 const std::optional<std::string>& interface) {
  if (!group) {
    throw Error(ErrorCode::invalid_collective, "a null pointer for the group to adopt",
                "a c10d::ProcessGroup", "make the group before it is adopted");
  }
  auto impl = std::make_shared<ProcessGroupAccess::Impl>();
  impl->contain_all(group->getRank(), group->getSize());
  impl->description = "a group of c10d";
  if (store) {
    impl->store = c10::make_intrusive<c10d::PrefixStore>("hpcboot", store);
    impl->interface = interface;
  }
  impl->group = group;
  return ProcessGroupAccess::make(std::move(impl));
}

}  // namespace hpcboot
