// send() and recv(). Gloo ends a process that receives more bytes than it expects, and does not
// tell if they are fewer: so with Gloo, type and shape go ahead of each tensor.
#include <ATen/Functions.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <exception>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "announced.hpp"
#include "arguments.hpp"
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

PendingTensors send_plainly(const ProcessGroup& group, const at::Tensor& tensor, int to, int tag) {
  return start_transfer(group, kSend, tensor, {tensor}, [&] {
    std::vector<at::Tensor> tensors{tensor};
    return group.c10d_group()->send(tensors, to, tag);
  });
}

PendingTensors receive_plainly(const ProcessGroup& group, const at::Tensor& tensor, int from,
                               int tag) {
  return start_transfer(group, kReceive, {}, {tensor}, [&] {
    std::vector<at::Tensor> tensors{tensor};
    return group.c10d_group()->recv(tensors, from, tag);
  });
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

/// The receipt of a message in its own thread: the data can be asked for only when its size is
/// known, and the rank that sends it may wait for that, while this one waits for something else.
std::shared_future<at::Tensor> receive_in_thread(const ProcessGroup& group,
                                                 const at::Tensor& tensor, int from, int tag) {
  // Messages of one tag follow each other: the data of one is asked for after that of the last.
  auto& last = ProcessGroupAccess::impl_of(group).receipts[{from, tag}];
  auto asked = std::make_shared<std::promise<void>>();
  auto result = std::make_shared<std::promise<at::Tensor>>();
  const std::shared_future<void> previous = std::exchange(last, asked->get_future().share());
  const at::Tensor header = at::empty({kAnnouncement}, at::kLong);
  const PendingTensors announced = receive_plainly(group, header, from, tag_of_announcement(tag));
  std::thread([=] {
    bool is_asked = false;
    try {
      announced.wait();
      if (previous.valid()) previous.wait();
      const Announced found(header);
      const at::Tensor bytes = at::empty({std::max<std::int64_t>(found.bytes(), 1)}, at::kByte);
      const PendingTensors data = receive_plainly(group, bytes, from, tag_of_data(tag));
      asked->set_value();
      is_asked = true;
      data.wait();
      require_announced(found, tensor, from);
      write_back(bytes.narrow(0, 0, found.bytes()), tensor);
      result->set_value(tensor);
    } catch (...) {
      if (!is_asked) asked->set_value();
      result->set_exception(std::current_exception());
    }
  }).detach();
  return result->get_future().share();
}

}  // namespace

Pending<at::Tensor> send(const ProcessGroup& group, const at::Tensor& tensor, int to, int tag) {
  require_message(group, to, tag, "receiver");
  if (!uses_gloo(group, tensor)) {
    return send_plainly(group, tensor.contiguous(), to, tag).then([tensor](const auto&) {
      return tensor;
    });
  }
  const PendingTensors announced =
      send_plainly(group, announcement(tensor), to, tag_of_announcement(tag));
  at::Tensor bytes = as_bytes(group, tensor);
  if (bytes.numel() == 0) bytes = at::zeros({1}, at::kByte);  // Gloo sends at least one
  return send_plainly(group, bytes, to, tag_of_data(tag))
      .then([announced, tensor](const std::vector<at::Tensor>&) {
        announced.wait();
        return tensor;
      });
}

Pending<at::Tensor> recv(const ProcessGroup& group, const at::Tensor& tensor, int from, int tag) {
  require_message(group, from, tag, "sender");
  if (!uses_gloo(group, tensor)) {
    const at::Tensor target = tensor.detach().contiguous();
    return receive_plainly(group, target, from, tag).then([tensor, target](const auto&) {
      if (!target.is_same(tensor)) tensor.detach().copy_(target);
      return tensor;
    });
  }
  const std::shared_future<at::Tensor> result = receive_in_thread(group, tensor, from, tag);
  return Pending<at::Tensor>(
      {[result](std::optional<milliseconds> limit) {
         if (limit && result.wait_for(*limit) != std::future_status::ready) {
           throw Error(
               ErrorCode::deadline_exceeded,
               "no message of another rank within " + std::to_string(limit->count()) + " ms",
               "the sender to call send() in time",
               "look for a rank that hangs, or that sends with another tag");
         }
         return result.get();
       },
       [result] { return result.wait_for(milliseconds(0)) == std::future_status::ready; },
       [] { return std::optional<std::chrono::steady_clock::time_point>(); }});
}

}  // namespace hpcboot
