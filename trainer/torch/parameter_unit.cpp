#include "parameter_unit.hpp"

#include <ATen/Functions.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "hpcboot/torch/collectives.hpp"
#include "refusal.hpp"

namespace hpcboot {
namespace {

using Clock = std::chrono::steady_clock;

/// Views of the memory stay valid: they have it again after allocate_memory().
void free_memory(const at::Tensor& flat) {
  c10::StorageImpl& storage = *flat.storage().unsafeGetStorageImpl();
  storage.set_data_ptr(at::DataPtr(nullptr, flat.device()));
  storage.set_nbytes(0);
}

void allocate_memory(const at::Tensor& flat) {
  c10::StorageImpl& storage = *flat.storage().unsafeGetStorageImpl();
  const auto bytes = static_cast<std::size_t>(flat.numel()) * flat.dtype().itemsize();
  storage.set_data_ptr(storage.allocator()->allocate(bytes));
  storage.set_nbytes(bytes);
}

template <typename Body>
auto timed(double& seconds, Body&& body) {
  const auto begin = Clock::now();
  auto result = body();
  seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

/// Not recorded as a view, so that zero_grad() may detach it in place.
at::Tensor plain_part(const at::Tensor& tensor, std::int64_t begin, std::int64_t count) {
  const at::AutoDispatchBelowADInplaceOrView below;
  return tensor.narrow(0, begin, count);
}

}  // namespace

/// A hook of the node that adds to .grad.
class ParameterUnit::Hook : public torch::autograd::FunctionPostHook {
 public:
  Hook(std::weak_ptr<ParameterUnit> unit, std::size_t parameter)
      : unit_(std::move(unit)), parameter_(parameter) {}

  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list& inputs) override {
    const auto unit = unit_.lock();  // the parameter may outlive it
    // checkpoint() has an undefined gradient for parameters that the module did not use.
    if (unit && inputs.front().defined()) unit->on_gradient_(parameter_);
    return outputs;
  }

 private:
  const std::weak_ptr<ParameterUnit> unit_;
  const std::size_t parameter_;
};

ParameterUnit::ParameterUnit(const ProcessGroup& group, const FullyShardOptions& options,
                             Parameters trained, const Parameters& frozen)
    : group_(group),
      options_(options),
      trained_(std::move(trained)),
      frozen_(frozen),
      has_arrived_(trained_.tensors.size(), false) {
  divide(trained_, true);
  divide(frozen_, false);
  // While they have their shapes and types, which the nodes remember.
  for (const at::Tensor& parameter : trained_.tensors) {
    accumulators_.push_back(torch::autograd::impl::grad_accumulator(parameter));
  }
  has_memory_ = is_whole_ = true;
  release();
}

void ParameterUnit::divide(const Parameters& parameters, bool is_trained) {
  const at::NoGradGuard no_grad;
  if (is_trained) homes_.resize(parameters.tensors.size());
  for (FlatParameters& layout : flatten_parameters(parameters.tensors, group_.world_size())) {
    ShardedFlat flat{};
    flat.is_trained = is_trained;
    const at::Tensor mine = layout.shard_of(group_.rank());
    flat.own = beside_shards(mine).copy_(mine);
    if (flat.own.device() != mine.device() && !copies_) {
      copies_ = std::make_unique<HostCopies>(mine.device());
    }
    if (options_.compute_type && at::isFloatingType(layout.elements.scalar_type())) {
      layout.elements = layout.elements.to(*options_.compute_type);
    }
    for (const FlatPlace& place : layout.places) {
      if (is_trained) homes_[place.parameter] = {flats_.size(), flat.whole.size()};
      flat.whole.push_back(place.in(layout.elements));
      at::Tensor parameter = parameters.tensors[place.parameter];  // the same one
      parameter.set_data(flat.whole.back());
    }
    flat.pieces = pieces_of(layout, group_.rank());
    for (const ShardPiece& piece : flat.pieces) {
      flat.leaves.push_back(flat.own.narrow(0, piece.in_shard, piece.count).detach());
    }
    flat.has_gradient.assign(layout.places.size(), false);
    flat.layout = std::move(layout);
    flats_.push_back(std::move(flat));
  }
}

at::Tensor ParameterUnit::beside_shards(const at::Tensor& like) const {
  if (!options_.offload_to_host || like.is_cpu()) return at::empty_like(like);
  return at::empty(like.sizes(), like.options().device(at::kCPU).pinned_memory(like.is_cuda()));
}

void ParameterUnit::start_gather() {
  if (has_memory_) return;
  const at::NoGradGuard no_grad;
  has_memory_ = true;
  for (const ShardedFlat& flat : flats_) {
    allocate_memory(flat.layout.elements);
    const auto start = [&] {
      flat.layout.shard_of(group_.rank()).copy_(flat.own, /*non_blocking=*/true);
      for (auto& one : hpcboot::start_gather(group_, flat.layout))
        gathering_.push_back(std::move(one));
    };
    if (copies_) {
      copies_->upload(start);
    } else {
      start();
    }
  }
}

void ParameterUnit::wait_for_gather() {
  timed(waited_, [&] {
    for (const auto& one : gathering_) one.wait();
    return 0;
  });
  gathering_.clear();
  if (copies_) copies_->join_uploads();
}

void ParameterUnit::gather() {
  if (is_whole_) return;
  start_gather();
  require_unmoved();
  wait_for_gather();
  for (const ShardedFlat& flat : flats_) {
    const std::vector<at::Tensor>& parameters = parameters_of(flat).tensors;
    for (std::size_t i = 0; i < flat.whole.size(); ++i) {
      at::Tensor parameter = parameters[flat.layout.places[i].parameter];
      parameter.set_data(flat.whole[i]);
    }
  }
  is_whole_ = true;
}

void ParameterUnit::require_unmoved() const {
  for (const ShardedFlat& flat : flats_) {
    for (const FlatPlace& place : flat.layout.places) {
      const at::Tensor& parameter = parameters_of(flat).tensors[place.parameter];
      if (parameter.options().type_equal(flat.layout.elements.options()) &&
          parameter.device() == flat.device() && parameter.requires_grad() == flat.is_trained) {
        continue;
      }
      refuse("parameter '" + parameters_of(flat).names[place.parameter] +
                 "', which was moved, converted, frozen or unfrozen after fully_shard()",
             "parameters that stay as they were",
             "call to() and set_requires_grad() before fully_shard()");
    }
  }
}

void ParameterUnit::release() {
  if (!has_memory_) return;
  wait_for_gather();
  for (const ShardedFlat& flat : flats_) {
    if (is_whole_) {
      // An access is an error of its shape, not one of memory.
      const at::Tensor nothing = at::empty({0}, flat.layout.elements.options());
      for (const FlatPlace& place : flat.layout.places) {
        at::Tensor parameter = parameters_of(flat).tensors[place.parameter];
        parameter.set_data(nothing);
      }
    }
    free_memory(flat.layout.elements);
  }
  has_memory_ = is_whole_ = false;
}

void ParameterUnit::on_gradient(std::function<void(std::size_t)> action) {
  const bool has_hooks = static_cast<bool>(on_gradient_);
  on_gradient_ = std::move(action);
  if (has_hooks) return;
  for (std::size_t i = 0; i < accumulators_.size(); ++i) {
    accumulators_[i]->add_post_hook(std::make_unique<Hook>(weak_from_this(), i));
  }
}

void ParameterUnit::take_gradient(std::size_t parameter) {
  const at::NoGradGuard no_grad;
  at::Tensor source = trained_.tensors[parameter];
  at::Tensor gradient = source.grad();
  if (gradient.layout() != at::kStrided) {
    refuse("a sparse gradient of " + trained_.names[parameter], "dense gradients",
           "construct the embedding without sparse(true)");
  }
  const Home home = homes_[parameter];
  ShardedFlat& flat = flats_[home.flat];
  if (!flat.gradient.defined()) {
    flat.gradient = at::zeros(flat.layout.elements.sizes(), flat.layout.elements.options());
  }
  const at::Tensor place = flat.layout.places[home.place].in(flat.gradient);
  if (flat.has_gradient[home.place]) {
    place.add_(gradient);
  } else {
    place.copy_(gradient);
  }
  flat.has_gradient[home.place] = true;
  source.mutable_grad().reset();
  if (has_arrived_[parameter]) return;
  has_arrived_[parameter] = true;
  ++arrived_;
}

std::vector<std::string> ParameterUnit::without_gradient() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < has_arrived_.size(); ++i) {
    if (!has_arrived_[i]) names.push_back(trained_.names[i]);
  }
  return names;
}

void ParameterUnit::start_reduction() {
  const at::NoGradGuard no_grad;
  for (ShardedFlat& flat : flats_) {
    if (!flat.is_trained) continue;
    if (options_.reduce_type) flat.gradient = flat.gradient.to(*options_.reduce_type);
    // A product, as in DistributedDataParallel: a quotient may differ in the last bit.
    flat.gradient.mul_(1.0 / group_.world_size());
    reducing_.push_back(reduce_scatter(group_, flat.gradient));
    flat.gradient.reset();
    flat.has_gradient.assign(flat.has_gradient.size(), false);
  }
}

at::Tensor ParameterUnit::to_shards(const at::Tensor& mean, const ShardedFlat& flat) {
  const at::Tensor converted = mean.to(flat.own.scalar_type());
  if (flat.own.device() == flat.device()) return converted;
  const at::Tensor copy = beside_shards(converted);
  copies_->download(copy, converted);
  const bool adds = std::any_of(flat.leaves.begin(), flat.leaves.end(),
                                [](const at::Tensor& leaf) { return leaf.grad().defined(); });
  if (adds) finish_copies();
  return copy;
}

void ParameterUnit::finish_copies() {
  if (copies_) copies_->finish();
}

void ParameterUnit::finish_reduction() {
  const at::NoGradGuard no_grad;
  for (std::size_t f = 0; f < reducing_.size(); ++f) {
    const at::Tensor mean =
        to_shards(timed(waited_, [&] { return reducing_[f].wait(); }), flats_[f]);
    for (std::size_t i = 0; i < flats_[f].pieces.size(); ++i) {
      const ShardPiece& piece = flats_[f].pieces[i];
      at::Tensor leaf = flats_[f].leaves[i];
      const at::Tensor part = plain_part(mean, piece.in_shard, piece.count);
      if (leaf.grad().defined()) {
        leaf.mutable_grad().add_(part);
      } else {
        leaf.mutable_grad() = part;
      }
    }
  }
  reducing_.clear();
}

void ParameterUnit::end_backward() {
  has_arrived_.assign(has_arrived_.size(), false);
  arrived_ = 0;
  open_inputs = 0;
  is_done = false;
}

}  // namespace hpcboot
