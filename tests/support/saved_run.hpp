#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>

#include "loop/checkpoint_file.hpp"
#include "loop/train_options.hpp"
#include "loop/usable_checkpoint.hpp"
#include "record/metrics_csv.hpp"
#include "record/run_record.hpp"

// A run folder as a training leaves it, written without training. An epoch has two steps.
namespace hpcboot::train::saved_run {

inline Json identity() {
  return {{"lr", 0.5}, {"model", "mnistnet"}};
}

/// Of tensors_after().
inline TrainingShapes shapes() {
  return {{"model.weight", {8}}, {"model.bias", {3}}};
}

/// The options of a start that resumes such a run.
inline TrainOptions options(const std::filesystem::path& runs_dir, const std::string& resume) {
  TrainOptions options;
  options.runs_dir = runs_dir.string();
  options.resume = resume;
  options.epochs = 9;
  return options;
}

inline int epochs_after(std::int64_t step) {
  return static_cast<int>(step / 2);
}

inline Configuration configuration() {
  return {identity(), shapes};
}

/// run.json after this many steps.
inline record::RunRecord record_after(std::int64_t step) {
  record::RunRecord record;
  record.run = "run";
  record.started = "2026-11-20T23:59:01Z";
  record.config = {{"mode", "single"}, {"requested_mode", "auto"}, {"comment", ""}, {"epochs", 9}};
  record.identity = identity();
  for (int epoch = 1; epoch <= epochs_after(step); ++epoch) {
    record.epochs.emplace_back();
    record.epochs.back().epoch = epoch;
  }
  return record;
}

inline TrainingState state_after(std::int64_t step) {
  TrainingState state;
  state.epoch = epochs_after(step) + 1;
  state.step = step;
  state.identity = identity();
  return state;
}

inline std::vector<NamedTensor> tensors_after(std::int64_t step) {
  return {{"model.weight", torch::full({8}, static_cast<double>(step))},
          {"model.bias", torch::full({3}, static_cast<double>(-step))}};
}

inline record::StepMetrics row_of(std::int64_t step) {
  record::StepMetrics row;
  row.epoch = epochs_after(step + 1);
  row.step = step;
  row.loss = 1.0 / static_cast<double>(step);
  return row;
}

}  // namespace hpcboot::train::saved_run
