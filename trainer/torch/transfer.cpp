#include "transfer.hpp"

#include <ATen/Functions.h>
#include <ATen/core/ivalue_inl.h>
#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "collective_range.hpp"
#include "compat.hpp"
#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "process_group_impl.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// c10d takes 0 for no limit.
constexpr milliseconds kShortestWait{1};

/// When a transfer ended, written by the thread of the backend.
class EndTime {
 public:
  void set() { ticks_ = Clock::now().time_since_epoch().count(); }
  std::optional<Clock::time_point> get() const {
    const Clock::rep ticks = ticks_;
    if (ticks == 0) return std::nullopt;
    return Clock::time_point(Clock::duration(ticks));
  }

 private:
  std::atomic<Clock::rep> ticks_{0};
};

/// The end of messages from one rank to another is not reported by c10d.
std::shared_ptr<EndTime> watch_end(c10d::Work& work) {
  auto end = std::make_shared<EndTime>();
  try {
    work.getFuture()->addCallback([end](c10::ivalue::Future&) { end->set(); });
  } catch (const std::exception&) {
    // Such a transfer has no future, and so no time.
  }
  return end;
}

std::int64_t size_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return 0;
  if (!tensor.is_sparse()) return static_cast<std::int64_t>(tensor.nbytes());
  return static_cast<std::int64_t>(tensor._values().nbytes() + tensor._indices().nbytes());
}

}  // namespace

PendingTensors start_transfer(const ProcessGroup& group, const std::string& doing,
                              const at::Tensor& contribution, std::vector<at::Tensor> tensors,
                              const std::function<c10::intrusive_ptr<c10d::Work>()>& start) {
  const c10::intrusive_ptr<c10d::Work> work = as_errors(doing, start);
  *ProcessGroupAccess::impl_of(group).contributed += size_of(contribution);
  const std::shared_ptr<EndTime> end = watch_end(*work);
  return PendingTensors(
      {[doing, work, tensors = std::move(tensors)](std::optional<milliseconds> limit) {
         RECORD_USER_SCOPE(kCollectiveWait);
         as_errors(doing, [&] {
           return work->wait(limit ? cut_deadline(*limit, kShortestWait) : kNoTimeout);
         });
         return tensors;
       },
       [work] { return work->isCompleted(); }, [end] { return end->get(); }});
}

bool uses_gloo(const ProcessGroup& group, const at::Tensor& tensor) {
  try {
    return compat::backend_name(group.c10d_group(), tensor.device().type()) == "gloo";
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    throw Error(ErrorCode::invalid_collective,
                "a tensor on " + tensor.device().str() + " in a group without a backend for it",
                "a group with a backend for the CPU, and one for each other device type",
                "make the group with several backends, such as 'cpu:gloo,cuda:nccl'");
  }
}

at::Tensor as_bytes(const ProcessGroup& group, const at::Tensor& tensor) {
  at::Tensor plain = tensor.detach().resolve_conj().resolve_neg();
  if (uses_gloo(group, plain)) plain = plain.cpu();
  return plain.contiguous().view({-1}).view(at::kByte);
}

at::Tensor from_bytes(const at::Tensor& bytes, at::IntArrayRef shape, at::ScalarType type) {
  return bytes.view(type).view(shape);
}

void write_back(const at::Tensor& bytes, const at::Tensor& tensor) {
  const at::Tensor target = tensor.detach();
  if (bytes.data_ptr() == target.data_ptr()) return;
  target.copy_(from_bytes(bytes, target.sizes(), target.scalar_type()));
}

PendingTensors gather_equal(const ProcessGroup& group, const at::Tensor& mine, const char* doing) {
  std::vector<at::Tensor> all;
  for (int rank = 0; rank < group.world_size(); ++rank) all.push_back(at::empty_like(mine));
  return start_transfer(group, doing, mine, all, [&] {
    std::vector<std::vector<at::Tensor>> outputs{all};
    std::vector<at::Tensor> inputs{mine};
    return group.c10d_group()->allgather(outputs, inputs);
  });
}

Pending<at::Tensor> exchange_pieces(const ProcessGroup& group, const at::Tensor& sent,
                                    const std::vector<std::int64_t>& sent_lengths,
                                    const std::vector<std::int64_t>& received_lengths,
                                    const char* doing) {
  std::int64_t total = 0;
  for (const std::int64_t length : received_lengths) total += length;
  const at::Tensor received = at::empty({total}, sent.options());
  return start_transfer(group, doing, sent, {received, sent},
                        [&] {
                          return compat::all_to_all(group.c10d_group(), received, sent,
                                                    received_lengths, sent_lengths);
                        })
      .then([](const std::vector<at::Tensor>& tensors) { return tensors[0]; });
}

}  // namespace hpcboot
