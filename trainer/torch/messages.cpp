// send() and recv(). Gloo ends a process that receives more bytes than it expects, and does not
// tell if they are fewer: so with Gloo, type and shape go ahead of each tensor.
#include <ATen/Functions.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <algorithm>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "announced.hpp"
#include "arguments.hpp"
#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "process_group_impl.hpp"
#include "transfer.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;

constexpr const char* kSend = "a send";
constexpr const char* kReceive = "a receive";

void require_message(const ProcessGroup& group, int rank, int tag, const std::string& role) {
  require_rank(group, rank, role);
  if (rank == group.rank()) {
    throw Error(ErrorCode::invalid_collective,
                "a message of rank " + std::to_string(rank) + " to itself",
                "another rank as the " + role, "copy the tensor instead");
  }
  // Each tag is two of Gloo's, and c10d leaves it 24 bits.
  constexpr int kTags = 1 << 22;
  if (tag >= 0 && tag < kTags) return;
  throw Error(ErrorCode::invalid_collective, "a message with the tag " + std::to_string(tag),
              "a number from 0 to " + std::to_string(kTags - 1), "choose a smaller tag");
}

int tag_of_announcement(int tag) {
  return 2 * tag;
}
int tag_of_data(int tag) {
  return 2 * tag + 1;
}

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

c10::intrusive_ptr<c10d::Work> send_bytes(const Group& group, const at::Tensor& bytes, int to,
                                          int tag) {
  std::vector<at::Tensor> tensors{bytes};
  return group->send(tensors, to, tag);
}

c10::intrusive_ptr<c10d::Work> receive_bytes(const Group& group, const at::Tensor& bytes, int from,
                                             int tag) {
  std::vector<at::Tensor> tensors{bytes};
  return group->recv(tensors, from, tag);
}

/// Runs `body` in a thread of its own, which must own all that it uses: a message goes through its
/// steps even if its wait() is called after that of another one, or never.
template <typename Body>
auto in_thread(Body body) -> std::shared_future<decltype(body())> {
  std::packaged_task<decltype(body())()> task(std::move(body));
  auto result = task.get_future().share();
  std::thread(std::move(task)).detach();
  return result;
}

/// A message that such a thread handles.
template <typename Result>
Pending<Result> pending_of(const std::shared_future<Result>& result, const char* doing) {
  return Pending<Result>(
      {[result, doing](std::optional<milliseconds> limit) {
         if (limit && result.wait_until(end_after(*limit)) != std::future_status::ready) {
           throw Error(ErrorCode::deadline_exceeded,
                       std::string("no answer from another rank within ") +
                           std::to_string(limit->count()) + " ms during " + doing,
                       "the other rank to call its part, send() or recv(), in time",
                       "look for a rank that hangs, or that uses another tag");
         }
         return result.get();
       },
       [result] { return result.wait_for(milliseconds(0)) == std::future_status::ready; },
       [] { return std::optional<std::chrono::steady_clock::time_point>(); }});
}

void require_announced(const Announced& announced, const at::Tensor& expected, int from) {
  const at::Tensor found = at::empty(announced.shape, at::TensorOptions(at::kMeta));
  if (announced.type == expected.scalar_type() && found.sizes() == expected.sizes()) return;
  throw Error(ErrorCode::invalid_collective,
              "a message of rank " + std::to_string(from) + " with " +
                  c10::toString(announced.type) + " of shape " + shape_text(found),
              std::string(c10::toString(expected.scalar_type())) + " of shape " +
                  shape_text(expected) + ", as the receiver has",
              "pass a tensor of the same type and shape to send() and recv()");
}

struct Message {
  Announced announced;
  at::Tensor bytes;
};

/// The data can be asked for only when its size is known.
std::shared_future<Message> receive(const ProcessGroup& from_group, int from, int tag) {
  // Messages of one tag follow each other: the data of one is asked for after that of the last.
  auto& receipts = ProcessGroupAccess::impl_of(from_group).receipts;
  for (auto it = receipts.begin(); it != receipts.end();) {
    const bool is_old = it->second.wait_for(milliseconds(0)) == std::future_status::ready;
    it = is_old ? receipts.erase(it) : std::next(it);
  }
  auto asked = std::make_shared<std::promise<void>>();
  const std::shared_future<void> previous =
      std::exchange(receipts[{from, tag}], asked->get_future().share());
  const Group group = from_group.c10d_group();
  const at::Tensor header = at::empty({kAnnouncement}, at::kLong);
  const auto announced = as_errors(
      kReceive, [&] { return receive_bytes(group, header, from, tag_of_announcement(tag)); });
  return in_thread([=] {
    // Whatever happens, the next message may be asked for.
    const std::shared_ptr<void> at_end(nullptr, [asked](void*) {
      try {
        asked->set_value();
      } catch (const std::future_error&) {
        // It has been set already.
      }
    });
    return as_errors(kReceive, [&] {
      announced->wait();
      if (previous.valid()) previous.wait();
      const Announced found(header);
      const at::Tensor bytes = at::empty({std::max<std::int64_t>(found.bytes(), 1)}, at::kByte);
      const auto data = receive_bytes(group, bytes, from, tag_of_data(tag));
      asked->set_value();
      data->wait();
      return Message{found, bytes.narrow(0, 0, found.bytes())};
    });
  });
}

}  // namespace

Pending<at::Tensor> send(const ProcessGroup& group, const at::Tensor& tensor, int to, int tag) {
  require_message(group, to, tag, "receiver");
  const at::Tensor bytes = as_bytes(group, tensor);
  if (!uses_gloo(group, tensor)) {
    return start_transfer(group, kSend, bytes, {bytes},
                          [&] { return send_bytes(group.c10d_group(), bytes, to, tag); })
        .then([tensor](const std::vector<at::Tensor>&) { return tensor; });
  }
  const Group c10d_group = group.c10d_group();
  const at::Tensor header = announcement(tensor);
  // Gloo sends at least one byte.
  const at::Tensor data = bytes.numel() > 0 ? bytes : at::zeros({1}, at::kByte);
  ProcessGroupAccess::impl_of(group).contributed->fetch_add(header.numel() * 8 + data.numel());
  const auto works = as_errors(kSend, [&] {
    return std::pair(send_bytes(c10d_group, header, to, tag_of_announcement(tag)),
                     send_bytes(c10d_group, data, to, tag_of_data(tag)));
  });
  const auto sent = in_thread([works, header, data, tensor, c10d_group] {
    return as_errors(kSend, [&] {
      works.first->wait();
      works.second->wait();
      return tensor;
    });
  });
  return pending_of(sent, kSend);
}

Pending<at::Tensor> recv(const ProcessGroup& group, const at::Tensor& tensor, int from, int tag) {
  require_message(group, from, tag, "sender");
  if (!uses_gloo(group, tensor)) {
    const at::Tensor bytes = as_bytes(group, tensor);
    return start_transfer(group, kReceive, {}, {bytes},
                          [&] { return receive_bytes(group.c10d_group(), bytes, from, tag); })
        .then([bytes, tensor](const std::vector<at::Tensor>&) {
          write_back(bytes, tensor);
          return tensor;
        });
  }
  return pending_of(receive(group, from, tag), kReceive)
      .then([tensor, from](const Message& message) {
        require_announced(message.announced, tensor, from);
        write_back(message.bytes, tensor);
        return tensor;
      });
}

}  // namespace hpcboot
