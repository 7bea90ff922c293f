#include "hpcboot/torch/loader_sampler.hpp"

#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>
#include <torch/types.h>

#include <algorithm>
#include <string>

#include "hpcboot/error.hpp"

namespace hpcboot {

struct LoaderSampler::State {
  DistributedSampler sampler;
  int world_size;
  int rank;
  DistributedSamplerOptions options;
  std::uint64_t epoch = 0;
  std::size_t start = 0;     ///< where the next pass begins
  std::size_t position = 0;  ///< in the pass under way
  std::vector<std::int64_t> indices = {};

  void begin_pass() {
    indices = sampler.indices(epoch);
    position = std::min(start, indices.size());
    start = 0;
  }
};

LoaderSampler::LoaderSampler(std::size_t dataset_size, int world_size, int rank,
                             DistributedSamplerOptions options)
    : state_(std::make_shared<State>(State{
          DistributedSampler(static_cast<std::int64_t>(dataset_size), world_size, rank, options),
          world_size, rank, options})) {
  state_->begin_pass();
}

void LoaderSampler::set_epoch(std::uint64_t epoch, std::size_t position) {
  if (position > size()) {
    throw Error(ErrorCode::inconsistent_placement,
                "sample " + std::to_string(position) + " of epoch " + std::to_string(epoch) +
                    " as the place to continue from",
                "at most the " + std::to_string(size()) + " samples that a rank has in an epoch",
                "pass the number of samples of this rank, not of all ranks");
  }
  state_->epoch = epoch;
  state_->start = position;
  state_->begin_pass();
  state_->start = position;  // the loader calls reset() before it begins
}

std::size_t LoaderSampler::size() const {
  return static_cast<std::size_t>(state_->sampler.size());
}

void LoaderSampler::reset(torch::optional<std::size_t> new_size) {
  if (new_size) {
    state_->sampler = DistributedSampler(static_cast<std::int64_t>(*new_size), state_->world_size,
                                         state_->rank, state_->options);
  }
  state_->begin_pass();
}

torch::optional<std::vector<std::size_t>> LoaderSampler::next(std::size_t batch_size) {
  State& state = *state_;
  const std::size_t count = std::min(batch_size, state.indices.size() - state.position);
  if (count == 0) return torch::nullopt;
  const auto begin = state.indices.begin() + static_cast<std::ptrdiff_t>(state.position);
  state.position += count;
  return std::vector<std::size_t>(begin, begin + static_cast<std::ptrdiff_t>(count));
}

void LoaderSampler::save(torch::serialize::OutputArchive& archive) const {
  archive.write("epoch", torch::tensor(static_cast<std::int64_t>(state_->epoch)), true);
  archive.write("position", torch::tensor(static_cast<std::int64_t>(state_->position)), true);
}

void LoaderSampler::load(torch::serialize::InputArchive& archive) {
  torch::Tensor epoch = torch::empty({}, torch::kLong);
  torch::Tensor position = torch::empty({}, torch::kLong);
  archive.read("epoch", epoch, true);
  archive.read("position", position, true);
  set_epoch(static_cast<std::uint64_t>(epoch.item<std::int64_t>()),
            static_cast<std::size_t>(position.item<std::int64_t>()));
}

}  // namespace hpcboot
