#pragma once

#include <cstdint>
#include <string>

#include "record/run_record.hpp"

namespace hpcboot::record {

/// A shorter runtime is below what a clock measures; a quotient with it would be meaningless.
constexpr double kShortestRuntime = 1e-3;  // seconds

/// An option of the run; null if the record does not have it.
Json config_value(const RunRecord& record, const char* key);

/// Equal for runs of the same training, with any number of samples: task, samples' shape, model,
/// image size, epochs and precision.
std::string training_of(const RunRecord& record);

/// Equal for runs that did the same work, so that their runtimes compare: training_of(), and the
/// number of samples.
std::string work_of(const RunRecord& record);

/// Under DDP a rank is a device, also with nodes of different sizes.
std::int64_t device_count(const RunRecord& record);

/// Was the run resumed on another number of devices? Then its time is that of none of them.
bool has_changed_devices(const RunRecord& record);

/// "cuda" of "cuda:3"; empty if unknown.
std::string device_kind(const RunRecord& record);

/// "NVIDIA H200"; empty if unknown, as of processors and in records of older versions.
std::string device_name(const RunRecord& record);

/// What one of its samples is called, by `config.sample`: "image" of "images of 1x28x28", as of
/// records without it; "sample" if that begins with no plain word.
std::string sample_of(const RunRecord& record);

/// The unit of a rate of samples, "images/s"; "samples/s" if the two differ.
std::string rate_unit(const std::string& sample, const std::string& of_other);

/// single, DP, DDP.
std::string method_of(const std::string& mode);

}  // namespace hpcboot::record
