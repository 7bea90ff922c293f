#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpcboot/placement.hpp"
#include "json/bounded_json.hpp"
#include "record/measure.hpp"

namespace hpcboot::record {

/// The schema that this version writes and reads.
constexpr int kSchema = 1;

/// exit_reason of a run in progress, and of a completed one. Others: "error: …", "signal TERM".
constexpr std::string_view kRunning = "running";
constexpr std::string_view kFinished = "finished";

/// One process of the run. Unknown numbers are empty here and null in the file, everywhere below.
struct RankRecord {
  Placement placement;
  std::string host;
  std::int64_t pid = 0;
  std::string device;                            ///< "cpu", "cuda:0"; mode dp: "cpu:2", "cuda:0,1"
  std::optional<std::string> device_name;        ///< of a GPU: "NVIDIA H200"; the first in mode dp
  std::optional<std::string> interface;          ///< for traffic between ranks
  std::optional<std::string> backend;            ///< gloo, nccl, mpi; none in one process
  std::map<std::string, Provenance> provenance;  ///< by field name, as resolve() gave it
};

/// One host of the run, and the load from other programs.
struct HostRecord {
  std::string host;
  std::optional<int> processors;          ///< online
  std::optional<double> load_at_start;    ///< the system's load average over the minute before
  std::optional<double> load_at_end;      ///< the same, with the run's own threads
  std::optional<double> others_at_start;  ///< threads of other programs that ran or were ready to
  std::optional<double> others;  ///< processors that other programs kept busy, mean over the run
  bool busy = false;  ///< other programs left the run's threads too little, at the start or later
};

/// One epoch, as seen over all ranks.
struct EpochRecord {
  int epoch = 0;  ///< from 1
  std::optional<std::int64_t> steps;
  std::optional<double> train_seconds;
  std::optional<double> validation_seconds;
  std::optional<double> train_loss;  ///< mean over the samples of all ranks
  std::optional<double> validation_loss;
  std::vector<Measure> measures;            ///< in the JSON "validation_accuracy" and so on
  std::optional<double> images_per_second;  ///< training samples of all ranks / train_seconds
  std::optional<double> data_wait_seconds;  ///< of train_seconds, spent waiting for the loader
  /// Parts of train_seconds on rank 0, as metrics.csv has them for each step.
  std::optional<double> forward_seconds;
  std::optional<double> backward_seconds;
  std::optional<double> communication_seconds;
  std::optional<double> optimizer_seconds;
  std::optional<std::int64_t> bytes_reduced;  ///< of rank 0
  std::optional<std::int64_t> skipped_steps;  ///< with fp16: their gradients overflowed
};

/// The numbers of an epoch that curves show, those that are known: losses, measures, images/s,
/// times.
std::vector<std::pair<std::string, double>> epoch_values(const EpochRecord& epoch);

/// The run as a whole, known at its end.
struct Totals {
  std::optional<double> runtime_seconds;   ///< from the start of rank 0's process to the end; for a
                                           ///< resumed run all starts, without lost work
  std::optional<double> start_up_seconds;  ///< the part of it before the first step
  std::optional<double> first_step_seconds;  ///< to the end of the first step
  std::optional<double> train_seconds;       ///< sum over the epochs
  std::optional<double> validation_seconds;
  std::optional<double> data_wait_seconds;
  std::optional<std::int64_t> images;  ///< training samples processed, over all epochs and ranks
  std::optional<double> images_per_second;   ///< images / train_seconds
  std::optional<double> checkpoint_seconds;  ///< waiting for checkpoints, in this start
  /// From the start of the launch to rank 0's main(), in the last start: starting processes and
  /// loading libraries. Rank 0's loading is also part of runtime_seconds.
  std::optional<double> launch_seconds;
};

/// One resumption of a run: the checkpoint that it continued from, and the job that did.
struct ResumedRecord {
  std::string time;        ///< iso8601_utc()
  std::string checkpoint;  ///< the file's name
  int epoch = 0;           ///< in progress, from 1
  std::int64_t step = 0;   ///< done before
  int world_size = 1;
  std::optional<std::int64_t> devices_before;  ///< of the start before; none in older records
  std::optional<std::string> job_id;
  std::optional<std::int64_t> restart_count;  ///< of the job, if the scheduler counts them
  std::optional<std::int64_t> steps_again;    ///< done after the checkpoint and lost, at least
  /// The checkpoint that --resume asked for by name, as it did; none if it took the newest
  std::optional<std::string> went_back_to;
};

/// The content of run.json. Rank 0 fills it and calls write() after the start, after each epoch and
/// at the end; runtable and resume read it.
struct RunRecord {
  std::string run;                      ///< the name of the run folder
  std::string started;                  ///< iso8601_utc()
  std::optional<std::string> finished;  ///< iso8601_utc(); none while running
  std::string exit_reason{kRunning};
  /// The options in force, defaults included, under the trainer's option names with '_' for '-'
  /// (write() and read() both ensure that). `mode` is always present and is the resolved one:
  /// single, dp or ddp, never auto. The runtime table compares model, image_size, epochs and
  /// precision.
  Json config = Json::object();
  std::optional<std::int64_t> train_samples;  ///< in the data set, after --limit-samples
  std::optional<std::int64_t> validation_samples;
  std::string launcher{"single"};
  std::optional<std::string> rendezvous;  ///< where the ranks met, and how they authenticated
  std::optional<std::string> scheduler;
  std::optional<std::string> job_id;
  std::optional<std::string> site;
  std::optional<std::string> origin;  ///< origin_of() the first start; none in older records
  int nodes = 1;
  int devices_per_node = 1;  ///< of the node with most, if they differ
  std::vector<RankRecord> ranks;
  std::vector<HostRecord> hosts;                ///< of the last start, by their first rank
  std::map<std::string, std::string> versions;  ///< hpcboot, libtorch, compiler, mpi, …
  std::vector<EpochRecord> epochs;
  std::vector<ResumedRecord> resumed;
  /// What --resume compares; null in records of older versions.
  Json identity;
  Totals totals;

  /// Replaces `file` atomically. @throws Error{unwritable_output}
  void write(const std::filesystem::path& file) const;
  /// Keys that this version does not know are ignored.
  /// @throws Error{unreadable_file, malformed_file}, the latter also for another schema
  static RunRecord read(const std::filesystem::path& file);

  /// config.mode; empty if a caller has not set it.
  std::string mode() const;
};

/// The job, host and process id of rank 0 when the run started first, as text: another run of the
/// same name and second has others. None if they are not known: an older version that resumed a
/// run recorded only those of the last start.
std::optional<std::string> origin_of(const RunRecord& record);

/// The JSON of schema 1. A number that is not finite becomes null.
Json to_json(const RunRecord& record);
Json to_json(const RankRecord& rank);
/// @param file names the source in errors. @throws Error{malformed_file}
RunRecord run_record_from_json(const Json& json, const std::string& file);
/// For rank 0, which collects the others' records as text.
RankRecord rank_record_from_json(const Json& json, const std::string& file);

}  // namespace hpcboot::record
