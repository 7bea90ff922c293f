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

/// The options of a training run: the parsed command line of `trainer`.
struct TrainOptions {
  std::string task = "mnist";
  std::string mode = "auto";  ///< auto, single, dp, ddp; auto is ddp if there are several ranks
  std::string model = "resnet50";
  std::string data = "data/mnist";
  int epochs = 1;
  BatchSizes batches;             ///< by default 64 samples per device
  std::int64_t image_size = 128;  ///< pixels, width and height; 0: the task has no images
  std::string augment = "none";   ///< none, crop-flip: random changes of training images
  double dropout = 0;             ///< probability that a value is dropped in training
  double mixup = 0;               ///< parameter of the beta distribution; 0: off
  OptimizationOptions optimization;
  std::uint64_t seed = 1234;
  std::int64_t limit_samples = 0;  ///< use the first N of training and validation; 0: all
  double data_fraction = 1;        ///< fraction of the training samples to use; the first ones
  std::string backend = "auto";
  std::string device = "auto";
  std::string devices;  ///< for mode dp: cpu:N, cuda, cuda:I,J; default: all CUDA devices, or cpu:2
  std::string precision = "fp32";             ///< fp32, tf32, bf16, fp16, fp64
  int initial_scale_power = 16;               ///< for fp16: the initial loss scale is 2 to this
  std::int64_t scale_growth_interval = 2000;  ///< steps
  bool find_unused_parameters = false;
  double bucket_mb = 25;                    ///< gradients are exchanged in buckets of this size
  std::string compress_gradients = "none";  ///< none, bf16, fp16: data type of the all-reduce
  bool sync_bn = false;                     ///< batch norms use statistics over all ranks
  int zero = 0;          ///< divided among the ranks: 1 state, 2 gradients, 3 weights
  bool offload = false;  ///< what is divided by zero 2 and 3 is in host memory
  bool checkpoint_activations = false;  ///< compute them again in the backward pass
  std::string runs_dir = "runs";
  std::string comment;
  bool tensorboard = false;             ///< write events into the run folder
  int threads = 0;                      ///< of LibTorch per rank; 0: this rank's share of the cores
  int loader_threads = 1;               ///< decode and resize images, per rank
  std::string checkpoint_every = "1e";  ///< parse_checkpoint_interval()
  int keep_checkpoints = 3;             ///< number of newest ones to keep, beside the best one
  bool sharded_checkpoints = false;     ///< each rank writes a part
  std::string resume;      ///< a run folder or a checkpoint, auto, best; none or empty: a new run
  std::string time_limit;  ///< parse_time_limit(); empty: none
  bool deterministic = false;     ///< repeated runs match bit for bit, on any number of ranks
  bool cuda_graph = false;        ///< record the passes of a step, and replay them
  std::optional<double> monitor;  ///< seconds between two looks; 0: off; none: 5 on GPUs, else 0
  std::string profile;            ///< parse_profile_schedule(); empty: no profile
  int profile_mb = 200;           ///< largest size of a rank's traces
  std::string store = "own";      ///< own, tcp: the store in which the ranks meet
  std::chrono::seconds start_up_timeout{300};
  std::chrono::seconds collective_timeout{600};
};

/// False if the build lacks the libraries for event files (protozero).
bool has_tensorboard();

/// The options under their command-line names, for the run record.
Json to_json(const TrainOptions& options);

/// Options that contradict each other or the launch: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace hpcboot::train
