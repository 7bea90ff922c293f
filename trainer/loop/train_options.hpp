#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "json/bounded_json.hpp"
#include "loop/batch_plan.hpp"
#include "loop/optimization_options.hpp"

namespace hpcboot::train {

/// What a run of training is to do: the command line of `trainer`, parsed.
struct TrainOptions {
  std::string mode = "auto";  ///< auto, single, dp, ddp; auto is ddp where there are several ranks
  std::string model = "resnet50";
  std::string data = "data/mnist";
  int epochs = 1;
  BatchSizes batches;             ///< by default 64 images for each device
  std::int64_t image_size = 128;  ///< pixels, width and height
  OptimizationOptions optimization;
  std::uint64_t seed = 1234;
  std::int64_t limit_samples = 0;  ///< use the first N of training and validation; 0: all
  double data_fraction = 1;        ///< of the training images that are used; the first ones
  std::string backend = "auto";
  std::string device = "auto";
  std::string devices;  ///< of mode dp: cpu:N, cuda, cuda:I,J; by default all CUDA devices or cpu:2
  std::string precision = "fp32";             ///< fp32, tf32, bf16, fp16
  int initial_scale_power = 16;               ///< of fp16: losses are multiplied by 2 to this
  std::int64_t scale_growth_interval = 2000;  ///< steps
  bool find_unused_parameters = false;
  double bucket_mb = 25;                    ///< gradients are exchanged in groups of this size
  std::string compress_gradients = "none";  ///< none, bf16, fp16: how they travel
  bool sync_bn = false;                     ///< statistics of batch norms over all ranks
  std::string runs_dir = "runs";
  std::string comment;
  bool tensorboard = false;  ///< events in the run folder
  int threads = 0;           ///< of LibTorch on each rank; 0: this rank's share of the cores
  int loader_threads = 1;    ///< that decode and resize, on each rank
  std::string checkpoint_every = "1e";  ///< parse_checkpoint_interval()
  int keep_checkpoints = 3;             ///< the newest; the best one stays beside them
  std::string resume;      ///< a run folder or a checkpoint, auto, best; none or empty: a new run
  std::string time_limit;  ///< parse_time_limit(); empty: none
  bool deterministic = false;  ///< equal runs are equal bit for bit on any number of ranks
  std::string store = "own";   ///< own, tcp: what the ranks meet in
  std::chrono::seconds start_up_timeout{300};
  std::chrono::seconds collective_timeout{600};
};

/// The options under their names on the command line, for the record of the run.
Json to_json(const TrainOptions& options);

/// Options that contradict each other or the launch: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace hpcboot::train
