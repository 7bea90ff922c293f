#include "hpcboot/torch/gradient_reducer.hpp"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "compat.hpp"
#include "exchanged_state.hpp"
#include "gradient_exchange.hpp"
#include "gradient_watch.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/collective_failure.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "hpcboot/torch/sync_batch_norm.hpp"
#include "model_agreement.hpp"
#include "model_broadcast.hpp"

namespace hpcboot {
namespace {

constexpr double kMebibyte = 1024 * 1024;
std::int64_t to_bytes(double mebibytes) {
  return static_cast<std::int64_t>(mebibytes * kMebibyte);
}

/// With gradient_as_bucket_view, .grad becomes a view of a bucket. Made below autograd, it is not
/// recorded as a view, and LibTorch's zero_grad(), which detaches gradients in place, accepts it.
template <typename Body>
auto with_plain_views(bool plain, Body&& body) {
  std::optional<at::AutoDispatchBelowADInplaceOrView> below;
  if (plain) below.emplace();
  return body();
}

}  // namespace

struct GradientReducer::Impl : Joinable {
  Impl(torch::nn::Module& trained_module, const ProcessGroup& trained_by,
       const DistributedDataParallelOptions& chosen_options)
      : module(trained_module), options(chosen_options), group(trained_by) {
    // First, so that every rank throws what the others do.
    require_same_model(module, options, group);
    require_agreeing_options();
    parameters = exchanged_parameters(module, options.ignored_parameters);
    broadcast_state(/*root=*/0);
    watch = std::make_shared<GradientWatch>(parameters.names, reach());
    watch->watch(parameters.trained);
    make_reducer();
  }

  void require_agreeing_options() const {
    if (!options.static_graph || !options.fixed_buckets) return;
    throw Error(ErrorCode::invalid_model_use, "static_graph together with fixed_buckets",
                "one of them: with static_graph, c10d rebuilds the buckets after the first step",
                "leave out one of the two options");
  }

  /// Sets parameters and buffers to those of a rank.
  void broadcast_state(int root) {
    std::vector<at::Tensor> state = parameters.trained;
    for (const auto& item : parameters.frozen) state.push_back(item.second);
    for (const at::Tensor& buffer : exchanged_buffers(module, options.ignored_parameters)) {
      state.push_back(buffer);
    }
    broadcast_from(root, state, group, "the broadcast of the model");
  }

  void broadcast_buffers(int root) {
    broadcast_from(root, exchanged_buffers(module, options.ignored_parameters), group,
                   "the broadcast of buffers");
  }

  void make_reducer() {
    const std::int64_t cap = to_bytes(options.bucket_cap_mb);
    const std::int64_t first_cap = to_bytes(options.first_bucket_mb);
    // A single bucket for the first step, unless that step may lack gradients: the order in which
    // gradients become ready, by which the buckets are rebuilt, is not known before.
    const std::vector<std::size_t> limits =
        walks_graph() ? std::vector<std::size_t>{static_cast<std::size_t>(first_cap),
                                                 static_cast<std::size_t>(cap)}
                      : std::vector<std::size_t>{std::numeric_limits<std::int64_t>::max()};
    compat::ReducerArguments arguments;
    arguments.parameters = parameters.trained;
    arguments.names = parameters.names;
    arguments.sparse = parameters.sparse;
    arguments.first_limits = limits;
    arguments.bucket_bytes = cap;
    arguments.first_bucket_bytes = first_cap;
    arguments.find_unused_parameters = walks_graph();
    arguments.gradient_as_bucket_view = options.gradient_as_bucket_view;
    arguments.broadcast_buffers = options.broadcast_buffers;
    compat::LoggedReducer made = with_plain_views(options.gradient_as_bucket_view, [&] {
      return compat::make_reducer(arguments, group.c10d_group());
    });
    reducer = std::move(made.reducer);
    logger = std::move(made.logger);
    auto made_exchange = std::make_unique<GradientExchange>(
        group, options.communication_hook ? options.communication_hook : all_reduce_hook(),
        [watched = watch] { return watched->last_gradient(); });
    exchange = made_exchange.get();
    reducer->register_comm_hook(std::move(made_exchange));
    if (!options.static_graph) return;
    reducer->set_static_graph();
    // Reducer counts the gradients of the first backward pass, and exchanges them when told so.
    watch->at_first_end(
        [this] { with_peers("the backward pass", [&] { reducer->delay_all_reduce(); }); });
  }

  Reach reach() const {
    if (options.static_graph) return Reach::same;
    return options.find_unused_parameters ? Reach::any : Reach::all;
  }

  /// Reducer would leave out their gradients.
  void require_still_frozen() const {
    for (const auto& item : parameters.frozen) {
      if (!item.second.requires_grad()) continue;
      throw Error(ErrorCode::invalid_model_use,
                  "parameter '" + item.first +
                      "' requires a gradient, but did not when DistributedDataParallel was "
                      "constructed",
                  "parameters that are frozen from then on to stay so",
                  "construct DistributedDataParallel anew on every rank after set_requires_grad()");
    }
  }

  /// With static_graph, Reducer takes the second forward that it is told about for a step after
  /// the first backward pass, which may not have come.
  void prepare_for_forward() {
    if (options.static_graph && is_prepared && !watch->has_ended()) return;
    reducer->prepare_for_forward();
    is_prepared = true;
  }

  /// Reducer does not rebuild its buckets if it expects unused parameters; GradientWatch then
  /// checks that there are none.
  bool walks_graph() const {
    return (options.find_unused_parameters || options.fixed_buckets) && !options.static_graph;
  }

  /// What the ranks that take a step tell those that have finished.
  struct Step {
    bool exchanges;  ///< the gradients
    bool broadcasts_buffers;
  };
  Step agree(const Step& mine) {
    const at::Tensor flags = at::zeros({2}, at::kByte);
    flags[0] = static_cast<int>(mine.exchanges);
    flags[1] = static_cast<int>(mine.broadcasts_buffers);
    all_reduce(group, flags, ReduceOp::max).wait();
    return {flags[0].item<int>() != 0, flags[1].item<int>() != 0};
  }

  void set_join(Join* entered) override {
    if (entered != nullptr) require_joinable(*entered);
    join = entered;
  }

  void require_joinable(const Join& entered) const {
    const auto& sparse = parameters.sparse;
    const bool has_sparse = std::find(sparse.begin(), sparse.end(), true) != sparse.end();
    const bool has_norms = has_synchronized_norms(module) && !entered.options().throw_on_early_end;
    if (entered.group().global_ranks() == group.global_ranks() && !has_sparse && !has_norms &&
        !options.static_graph) {
      return;
    }
    throw Error(ErrorCode::invalid_model_use,
                std::string("a Join of a DistributedDataParallel with ") +
                    (has_sparse             ? "sparse gradients"
                     : has_norms            ? "synchronized batch norms"
                     : options.static_graph ? "static_graph"
                                            : "another group of ranks"),
                "the group of the Join, dense gradients, batch norms of each rank's own, and a "
                "graph that is not declared static",
                "train without that, give every rank as many batches, or, for batch norms, set "
                "throw_on_early_end");
  }

  // In the order of before_forward() and of Reducer's backward pass.
  void shadow_step() override {
    const Step step = agree({false, false});
    with_peers("a step of other ranks", [&] {
      with_plain_views(options.gradient_as_bucket_view, [&] { return reducer->rebuild_buckets(); });
      if (step.broadcasts_buffers) broadcast_buffers(join->active_rank());
      if (!step.exchanges) return;
      exchange->begin();
      std::vector<c10::intrusive_ptr<c10::ivalue::Future>> started;
      for (c10d::GradBucket& bucket : reducer->get_grad_buckets(/*return_zero_tensors=*/true)) {
        started.push_back(exchange->runHook(bucket));
      }
      if (walks_graph()) {
        std::vector<at::Tensor> used{at::zeros_like(reducer->get_local_used_map_on_device())};
        group.c10d_group()->allreduce(used)->wait();
      }
      for (const auto& one : started) exchange->parseHookResult(one->value());
      reducer->push_rebuilt_params_for_all_indices();
    });
  }

  void finish(int last_rank) override {
    broadcast_state(last_rank);
    buffers_due = true;
  }

  torch::nn::Module& module;
  const DistributedDataParallelOptions options;
  ProcessGroup group;
  std::shared_ptr<c10d::Reducer> reducer;
  std::shared_ptr<c10d::Logger> logger;  // reducer refers to it without owning it
  GradientExchange* exchange = nullptr;  // owned by reducer
  std::shared_ptr<GradientWatch> watch;
  ExchangedParameters parameters;
  Join* join = nullptr;
  bool exchanging = true;
  bool is_prepared = false;
  bool buffers_due = true;  // at the first of the forwards whose gradients are exchanged together
};

GradientReducer::GradientReducer(torch::nn::Module& module, ProcessGroup& group,
                                 const DistributedDataParallelOptions& options)
    : impl_(std::make_unique<Impl>(module, group, options)) {}
GradientReducer::GradientReducer(GradientReducer&&) noexcept = default;
GradientReducer& GradientReducer::operator=(GradientReducer&&) noexcept = default;
GradientReducer::~GradientReducer() = default;

void GradientReducer::before_forward() {
  if (!at::GradMode::is_enabled()) return;
  Impl& impl = *impl_;
  impl.group.c10d_group();  // refuses after shutdown()
  impl.require_still_frozen();
  impl.watch->require_end();
  // Not in validation: ranks may have different numbers of batches there.
  const bool with_buffers =
      impl.options.broadcast_buffers && impl.buffers_due && impl.module.is_training();
  if (impl.join != nullptr) {
    impl.join->step(&impl);
    impl.agree({impl.exchanging, with_buffers});
  }
  if (impl.exchanging) impl.prepare_for_forward();
  try {
    with_peers("the forward pass", [&] {
      with_plain_views(impl.options.gradient_as_bucket_view,
                       [&] { return impl.reducer->rebuild_buckets(); });
    });
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    // Reducer refuses after a backward that did not reach every parameter.
    if (impl.reach() == Reach::any) impl.watch->require_outputs_used();
    if (impl.reach() == Reach::all) impl.watch->require_all_used();
    throw;
  }
  if (with_buffers) impl.broadcast_buffers(impl.join != nullptr ? impl.join->active_rank() : 0);
  impl.buffers_due = impl.exchanging;
}

void GradientReducer::after_forward(const std::vector<at::Tensor>& outputs) {
  if (!at::GradMode::is_enabled()) return;
  Impl& impl = *impl_;
  if (!impl.exchanging) return;
  std::vector<at::Tensor> roots;  // of the graph; Reducer does not expect undefined tensors
  if (impl.walks_graph()) {
    std::copy_if(outputs.begin(), outputs.end(), std::back_inserter(roots),
                 [](const at::Tensor& output) { return output.defined(); });
  }
  impl.reducer->prepare_for_backward(roots);
  impl.exchange->begin();
  impl.watch->begin(outputs);
}

Joinable& GradientReducer::joinable() {
  return *impl_;
}
void GradientReducer::set_exchanging(bool exchanging) {
  impl_->exchanging = exchanging;
}
bool GradientReducer::exchanging() const {
  return impl_->exchanging;
}
const ExchangeStatistics& GradientReducer::statistics() const {
  return impl_->exchange->statistics();
}

}  // namespace hpcboot
