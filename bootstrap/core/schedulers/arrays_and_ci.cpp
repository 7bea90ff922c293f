#include "core/schedulers/schedulers.hpp"

// Each of these splits a list of work, or counts something other than this process's world. None
// places a process among peers that it could connect to.
namespace hpcboot {
namespace {

constexpr LaunchVariable kVariables[] = {
    // Tasks of a job array: AWS Batch array jobs, Google Cloud Batch, Cloud Run jobs
    {"AWS_BATCH_JOB_ARRAY_*", kCompanion},
    {"BATCH_TASK_*", kCompanion},
    {"CLOUD_RUN_TASK_*", kCompanion},
    {"CLOUD_RUN_*", kCompanion},
    // Kubernetes Indexed Job: as often the index of a sweep as of a rank
    {"JOB_COMPLETION_INDEX", kIdentity},
    // Tests that a CI system splits across its workers: GitLab, CircleCI, Buildkite, Knapsack,
    // pytest-xdist, GoogleTest, Jest, Playwright, Harness
    {"CI_NODE_*", kCompanion},
    {"CIRCLE_NODE_*", kCompanion},
    {"BUILDKITE_PARALLEL_*", kCompanion},
    {"KNAPSACK_*", kCompanion},
    {"PYTEST_XDIST_*", kCompanion},
    {"GTEST_SHARD_*", kCompanion},
    {"GTEST_TOTAL_SHARDS", kCompanion},
    {"TEST_SHARD_*", kCompanion},
    {"TEST_TOTAL_SHARDS", kCompanion},
    {"JEST_WORKER_ID", kCompanion},
    {"TEST_WORKER_INDEX", kCompanion},
    {"TEST_PARALLEL_INDEX", kCompanion},
    {"HARNESS_*", kCompanion},
    // Workers of Dask, Parsl and Ray, jobs of GNU parallel
    {"DASK_*", kCompanion},
    {"PARSL_*", kCompanion},
    {"RAY_*", kCompanion},
    {"PARALLEL_*", kCompanion},
    // Low-rank adaptation: a size of matrices
    {"LORA_*", kCompanion},
};

}  // namespace

VariableList variables_of_arrays_and_ci() noexcept {
  return kVariables;
}

}  // namespace hpcboot
