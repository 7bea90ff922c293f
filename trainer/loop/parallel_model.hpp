#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/torch/data_parallel.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/fully_shard.hpp"
#include "hpcboot/torch/precision.hpp"
#include "loop/communicator.hpp"
#include "loop/train_options.hpp"
#include "models/model.hpp"
#include "tasks/task.hpp"

namespace hpcboot::train {

/// A model in one of the modes single, dp and ddp, so that the loop is written once for all.
class ParallelModel {
 public:
  /// Collective in mode ddp, which sets the parameters to rank 0's.
  /// @param task whose model it is; used by the constructor only
  /// @param mode single, dp or ddp
  /// @param devices one, or several in mode dp
  ParallelModel(const TrainOptions& options, const tasks::Task& task, const std::string& mode,
                const std::vector<torch::Device>& devices, Communicator& communicator);

  /// The model's output, in the type of the parameters, computed in the precision of the run.
  /// For training: in mode ddp, the following backward exchanges the gradients.
  torch::Tensor forward(const models::Inputs& inputs);
  /// Forward and backward passes in `body` add to the gradients without exchanging them.
  template <typename Body>
  void no_sync(Body&& body) {
    if (ranks_) {
      const auto guard = ranks_->no_sync();
      body();
    } else if (sharded_) {
      const auto guard = sharded_->no_sync();
      body();
    } else {
      body();
    }
  }
  /// How much of the latest backward pass, which ended at `end`, was spent on the gradient exchange
  /// alone: 0 for a single process, and if it did not exchange them.
  double exchange_seconds(std::chrono::steady_clock::time_point end);
  /// How many bytes this rank contributed to the last exchange; with --zero 2 or 3, to all since
  /// the last call, parameters included. 0 for a single process.
  std::int64_t bytes_of_exchange();
  /// For validation: not collective, so ranks may call it a different number of times.
  torch::Tensor infer(const models::Inputs& inputs);

  /// Keeps the parameters whole for infer() and for reading them, with --zero 2 or 3. Collective.
  [[nodiscard]] std::optional<WholeParameters> keep_whole();
  void zero_grad();

  models::Model& model() { return *model_; }
  /// The model whose parameters are divided among the ranks; null without --zero 2 or 3.
  ShardUnit* sharded() { return sharded_.get(); }
  /// Where inputs and targets must be.
  torch::Device device() const { return devices_.front(); }
  /// Where it computes: in mode dp, one for each replica.
  const std::vector<torch::Device>& devices() const { return devices_; }
  /// Of the parameters and the output.
  torch::ScalarType type() const { return type_; }

 private:
  models::Inputs in_own_type(const models::Inputs& inputs) const;

  using ModelPointer = std::shared_ptr<models::Model>;

  std::vector<torch::Device> devices_;
  Precision precision_;
  torch::ScalarType type_;
  ModelPointer model_;
  std::optional<DataParallel<ModelPointer>> replicas_;
  std::optional<DistributedDataParallel<ModelPointer>> ranks_;
  std::shared_ptr<ShardUnitOf<models::Model>> sharded_;
  std::optional<ProcessGroup> group_;  // of sharded_
  std::int64_t exchanges_ = 0;         // seen by exchange_seconds()
  double waited_ = 0;                  // by sharded_, until the end of its forward pass
  std::int64_t contributed_ = 0;       // seen by bytes_of_exchange()
};

}  // namespace hpcboot::train
