#pragma once

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hpcboot/torch/communication_hook.hpp"
#include "hpcboot/torch/exchange_statistics.hpp"

namespace hpcboot {

/// Lets c10d's Reducer exchange gradients by one of our hooks, and measures it. Reducer asks for
/// the results in the order of the buckets once the backward pass has computed all gradients; only
/// then do the steps that follow a transfer run, on the thread of backward(), so that a peer that
/// is gone is an Error there, and not an exception in a thread of c10d.
class GradientExchange : public c10d::CommHookInterface {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// @param last_gradient when the last gradient of the backward pass under way was ready
  GradientExchange(ProcessGroup group, std::shared_ptr<CommunicationHook> hook,
                   std::function<Time()> last_gradient);

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override;
  at::Tensor parseHookResult(const c10::IValue& result) override;

  /// Before a backward pass: forgets what a previous one, that ended with an error, left.
  void begin();

  /// Of the last exchange that got to its end.
  const ExchangeStatistics& statistics() const { return statistics_; }

 private:
  struct Exchange {
    Pending<at::Tensor> result;
    Time start;
    Time end;
    std::int64_t bytes;
  };

  void measure();

  ProcessGroup group_;
  std::shared_ptr<CommunicationHook> hook_;
  std::function<Time()> last_gradient_;
  std::vector<Exchange> under_way_;  // in the order of their start
  ExchangeStatistics statistics_;
};

}  // namespace hpcboot
