#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace hpcboot {

/// The result of a collective that is under way. The tensors that were passed to the collective
/// must not be changed before wait() has returned. Copies refer to the same result. If it is
/// dropped, the transfer goes on, but steps after it (the division of an average) are left out.
/// With NCCL, wait() makes the current stream wait, not the host.
template <typename Result>
class [[nodiscard]] Pending {
 public:
  using Milliseconds = std::chrono::milliseconds;
  using Time = std::chrono::steady_clock::time_point;

  /// How a collective is waited for; see all_reduce() and its neighbours, which make them.
  struct Source {
    /// Waits for the transfer, for the collective timeout of the group if there is no limit.
    std::function<Result(std::optional<Milliseconds>)> wait;
    std::function<bool()> ready;
    std::function<std::optional<Time>()> finished_at;
  };
  explicit Pending(Source source) : state_(std::make_shared<State>(State{std::move(source)})) {}

  /// A result that needs no wait.
  static Pending of(Result result) {
    const Time now = std::chrono::steady_clock::now();
    return Pending({[result = std::move(result)](auto) { return result; }, [] { return true; },
                    [now] { return std::optional<Time>(now); }});
  }

  /// Whether wait() would return or throw at once.
  bool ready() const { return state_->result || state_->source.ready(); }

  /// When the transfer ended; none if it has not, or if the backend does not tell. With NCCL, when
  /// it was handed to the device.
  std::optional<Time> finished_at() const {
    return state_->result ? state_->finished_at : state_->source.finished_at();
  }

  /// Waits for the result, at most for the collective timeout of the group. A second call returns
  /// the same result.
  /// @throws Error{peer_lost, deadline_exceeded, invalid_collective}
  Result wait() const { return wait_for(std::nullopt); }

  /// Waits at most `limit`. A collective that exceeds it leaves the group unusable.
  Result wait(Milliseconds limit) const { return wait_for(limit); }

  /// The result of `step`, applied to this result in the wait() of the returned object.
  template <typename Step>
  auto then(Step step) const -> Pending<std::invoke_result_t<Step, Result>> {
    using Next = Pending<std::invoke_result_t<Step, Result>>;
    const Pending self = *this;
    return Next(typename Next::Source{
        [self, step = std::move(step)](std::optional<Milliseconds> limit) {
          return step(self.wait_for(limit));
        },
        [self] { return self.ready(); }, [self] { return self.finished_at(); }});
  }

 private:
  struct State {
    Source source;
    std::optional<Result> result = {};
    std::optional<Time> finished_at = {};
  };

  Result wait_for(std::optional<Milliseconds> limit) const {
    if (!state_->result) {
      state_->result = state_->source.wait(limit);
      state_->finished_at = state_->source.finished_at();
      state_->source = {};  // what the transfer needed is released
    }
    return *state_->result;
  }

  std::shared_ptr<State> state_;
};

}  // namespace hpcboot
