#pragma once

#include <vector>

#include "record/run_record.hpp"

namespace hpcboot::report {

/// A runtime that others have published.
struct PublishedFigure {
  const char* system;
  const char* device;
  const char* method;  ///< as in the runtime table
  int nodes;
  int devices_per_node;
  const char* launcher;  ///< empty if not published
  double runtime_seconds;
};

/// Five epochs of ResNet50 on MNIST at 128 px, 768 images a GPU, by PyTorch:
/// README of https://github.com/DSL-Lab/HPC_helper, April 2024.
const std::vector<PublishedFigure>& published_figures();
constexpr const char* kPublishedBy = "README of HPC_helper (github.com/DSL-Lab/HPC_helper), 2024";
constexpr const char* kPublishedWork =
    "five epochs of ResNet50 on MNIST, 128 px, fp32, a global batch of 768 images a GPU, PyTorch";

/// Whether a run did that work, on whatever devices.
bool is_as_published(const record::RunRecord& run);

}  // namespace hpcboot::report
