#pragma once

#include <torch/data/samplers/base.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "hpcboot/torch/distributed_sampler.hpp"

namespace hpcboot {

/// DistributedSampler for torch::data::make_data_loader(), which takes a copy: copies share the
/// epoch and the position.
///
///     hpcboot::LoaderSampler sampler(*dataset.size(), group.world_size(), group.rank());
///     auto loader = torch::data::make_data_loader(dataset, sampler, 32);
///     for (int epoch = 0; epoch < epochs; ++epoch) {
///       sampler.set_epoch(epoch);
///       for (auto& batch : *loader) { … }
///     }
///
/// To go on within an epoch, save epoch and the number of samples that this rank has trained on (a
/// loader with workers asks for batches ahead of training, so count your own), and pass both to
/// set_epoch().
class LoaderSampler : public torch::data::samplers::Sampler<std::vector<std::size_t>> {
 public:
  /// @throws Error{inconsistent_placement} as DistributedSampler
  LoaderSampler(std::size_t dataset_size, int world_size, int rank,
                DistributedSamplerOptions options = {});

  /// The next pass through the loader is this epoch, without the first `position` samples of this
  /// rank. Passes after it are the same epoch, whole, until this is called again.
  /// @throws Error{inconsistent_placement} if this rank has fewer samples
  void set_epoch(std::uint64_t epoch, std::size_t position = 0);

  /// Samples per rank and epoch.
  std::size_t size() const;

  /// @{ For the loader.
  void reset(torch::optional<std::size_t> new_size = torch::nullopt) override;
  torch::optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;
  /// @}

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hpcboot
