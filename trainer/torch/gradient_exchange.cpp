#include "gradient_exchange.hpp"

#include <ATen/core/ivalue_inl.h>

#include <algorithm>
#include <utility>

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// A lost rank is reported with the place in the program at which it was noticed.
template <typename Body>
auto in_backward_pass(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error& error) {
    const bool is_lost =
        error.code() == ErrorCode::peer_lost || error.code() == ErrorCode::deadline_exceeded;
    if (!is_lost) throw;
    throw Error(error.code(), error.found() + " in the backward pass", error.expected(),
                error.remedy());
  }
}

GradientBucket bucket_of(c10d::GradBucket& bucket) {
  GradientBucket result;
  result.gradients = bucket.getBuffer();
  result.is_last = bucket.isLast();
  // Most hooks do without these, and a view for each parameter takes time.
  result.parameters = [&bucket] { return bucket.getParameters(); };
  result.parts = [&bucket] {
    return bucket.getBufferRef().is_sparse() ? std::vector<at::Tensor>() : bucket.getGradients();
  };
  return result;
}

}  // namespace

GradientExchange::GradientExchange(ProcessGroup group, std::shared_ptr<CommunicationHook> hook,
                                   std::function<Time()> last_gradient)
    : group_(std::move(group)), hook_(std::move(hook)), last_gradient_(std::move(last_gradient)) {}

void GradientExchange::begin() {
  under_way_.clear();
}

c10::intrusive_ptr<c10::ivalue::Future> GradientExchange::runHook(c10d::GradBucket& bucket) {
  const Time start = Clock::now();
  const std::int64_t before = group_.contributed_bytes();
  Pending<at::Tensor> result =
      in_backward_pass([&] { return hook_->exchange(group_, bucket_of(bucket)); });
  under_way_.push_back({std::move(result), start, start, group_.contributed_bytes() - before});
  // Reducer waits for this one, and then asks parseHookResult() for the tensor.
  auto done = c10::make_intrusive<c10::ivalue::Future>(c10::IntType::get());
  done->markCompleted(static_cast<std::int64_t>(under_way_.size()) - 1);
  return done;
}

at::Tensor GradientExchange::parseHookResult(const c10::IValue& result) {
  Exchange& exchange = under_way_.at(static_cast<std::size_t>(result.toInt()));
  const std::int64_t before = group_.contributed_bytes();
  const at::Tensor gradients = in_backward_pass([&] { return exchange.result.wait(); });
  const std::int64_t later = group_.contributed_bytes() - before;
  // A step that followed the transfer ends now.
  exchange.end = later > 0 ? Clock::now() : exchange.result.finished_at().value_or(Clock::now());
  exchange.bytes += later;
  exchange.result = Pending<at::Tensor>::of({});  // releases what the exchange needed
  if (&exchange == &under_way_.back()) measure();
  return gradients;
}

void GradientExchange::measure() {
  ExchangeStatistics result;
  result.exchanges = statistics_.exchanges + 1;
  result.last_gradient = last_gradient_();
  Time covered;  // until when the exchanges so far were under way
  for (const Exchange& exchange : under_way_) {
    const Time first = under_way_.front().start;
    result.buckets.push_back(
        {exchange.bytes, seconds(exchange.start - first), seconds(exchange.end - exchange.start)});
    result.bytes += exchange.bytes;
    const Time start = std::max(exchange.start, covered);
    if (exchange.end <= start) continue;
    result.busy_seconds += seconds(exchange.end - start);
    const Time exposed = std::max(start, result.last_gradient);
    if (exchange.end > exposed) result.exposed_seconds += seconds(exchange.end - exposed);
    covered = exchange.end;
  }
  statistics_ = std::move(result);
}

}  // namespace hpcboot
