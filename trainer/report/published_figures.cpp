#include "report/published_figures.hpp"

#include "record/run_work.hpp"

namespace hpcboot::report {
namespace {

constexpr const char* kV100 = "Tesla V100-SXM2-32GB";
constexpr const char* kRtx6000 = "RTX6000-24GB";

/// A run that did the published work.
record::RunRecord published_run() {
  record::RunRecord run;
  run.config["model"] = "resnet50";
  run.config["image_size"] = 128;
  run.config["epochs"] = 5;
  run.config["precision"] = "fp32";
  run.train_samples = 60000;
  return run;
}

}  // namespace

const std::vector<PublishedFigure>& published_figures() {
  static const std::vector<PublishedFigure> figures{
      {"Sockeye", kV100, "single", 1, 1, "", 363.4},
      {"CC", kV100, "single", 1, 1, "", 309.7},
      {"Vector", kRtx6000, "single", 1, 1, "", 425.0},
      {"Sockeye", kV100, "DP", 1, 4, "", 103.5},
      {"CC", kV100, "DP", 1, 4, "", 114.2},
      {"Vector", kRtx6000, "DP", 1, 4, "", 133.9},
      {"Sockeye", kV100, "DDP", 1, 4, "", 93.7},
      {"CC", kV100, "DDP", 1, 4, "", 85.2},
      {"Vector", kRtx6000, "DDP", 1, 4, "", 113.4},
      {"Sockeye", kV100, "DDP", 2, 4, "mpirun", 55.7},
      {"CC", kV100, "DDP", 2, 4, "mpirun", 47.0},
      {"CC", kV100, "DDP", 2, 4, "srun", 47.4},
      {"Vector", kRtx6000, "DDP", 2, 4, "mpirun", 60.9},
      {"Vector", kRtx6000, "DDP", 2, 4, "srun", 60.6}};
  return figures;
}

bool is_as_published(const record::RunRecord& run) {
  static const std::string work = record::work_of(published_run());
  return record::work_of(run) == work;
}

}  // namespace hpcboot::report
