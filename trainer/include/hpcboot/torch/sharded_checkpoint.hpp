#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

// Checkpoints that all ranks write and read at the same time. A checkpoint is a folder with a file
// of model and optimizer from each rank, in safetensors format, and an index of each:
//
//     model-00001-of-00004.safetensors …       model.safetensors.index.json
//     optimizer-00001-of-00004.safetensors …   optimizer.safetensors.index.json
//
// Tensors are whole and have the names of the whole model, whatever was divided among the ranks, so
// any number of ranks can read it, divided in another way or not at all, and so can Python's
// safetensors and transformers. The optimizer's tensors are named <parameter>.<field>, such as
// "layers.0.weight.exp_avg".

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// What one rank writes.
struct CheckpointShare {
  std::vector<NamedTensor> model;                     ///< parameters and buffers
  std::optional<std::vector<NamedTensor>> optimizer;  ///< the state of parameters
};

/// Saves parameters, buffers and the optimizer's state; collective. Every rank must see the folder
/// above `folder`, and each writes about as many bytes. `folder` appears once it is complete: until
/// then, the files are in a folder whose name starts with a dot, which is removed if a rank fails
/// but remains after a crash. Takes the memory of one rank's files, on the CPU.
/// @param model equal on all ranks, as DistributedDataParallel leaves it, or of fully_shard()
/// @param optimizer of this model; null: the model only. Knows Adam, AdamW, SGD, Adagrad, RMSprop,
///        and ShardedOptimizer of these
/// @param notes texts for load_sharded(), such as the epoch; the same on all ranks
/// @throws Error{unwritable_output} on every rank, naming the one that failed, and if `folder`
///         exists; Error{invalid_model_use} for an optimizer of another kind;
///         Error{peer_lost, deadline_exceeded}
void save_sharded(const std::filesystem::path& folder, const torch::nn::Module& model,
                  torch::optim::Optimizer* optimizer, const ProcessGroup& group,
                  const std::map<std::string, std::string>& notes = {});

/// What load_sharded() found beside the model and its optimizer.
struct LoadedCheckpoint {
  std::map<std::string, std::string> notes;
  std::vector<NamedTensor> others;  ///< in the optimizer's files, but of no parameter
};

/// Restores what save_sharded() has saved; not collective. Reads from the files only what this rank
/// has of the model and the state, one tensor at a time.
/// @param optimizer null: the model only, also from a folder without an optimizer's files
/// @throws Error{unreadable_file}; Error{malformed_file} for damaged files, and if a tensor of the
///         model is missing, superfluous, or of another shape: the model is unchanged then;
///         Error{invalid_model_use} for an optimizer of another kind
LoadedCheckpoint load_sharded(const std::filesystem::path& folder, torch::nn::Module& model,
                              torch::optim::Optimizer* optimizer);

/// Reads every `parts`-th file, from number `part` on, and compares it with the checksum that
/// write_share() has stored in it; load_sharded() notices a missing or shortened file, but no wrong
/// byte. Not collective: with its rank and their number, each rank checks its part.
/// @return the notes
/// @throws Error{unreadable_file}; Error{malformed_file} naming the file
std::map<std::string, std::string> verify_sharded(const std::filesystem::path& folder, int part = 0,
                                                  int parts = 1);

// The steps of save_sharded(), for a program that trains on while the files are written.

/// Collective. Sends each tensor whole to the rank that will write it. Those that this rank has
/// anyway are not copied.
CheckpointShare share_for_checkpoint(const torch::nn::Module& model,
                                     torch::optim::Optimizer* optimizer, const ProcessGroup& group);

/// Not collective. Writes the files of one rank into a folder, which is created if it is missing.
/// @param share tensors on the CPU or on a GPU
/// @throws Error{unwritable_output}
void write_share(const CheckpointShare& share, const std::filesystem::path& folder, int rank,
                 int world_size);

/// Called by one rank once write_share() of all has returned: writes the indexes and renames the
/// folder. An existing `folder` is replaced.
/// @throws Error{unwritable_output}; Error{unreadable_file} if the files of a rank are not there,
///         because its host does not share the folder
void complete_checkpoint(const std::filesystem::path& written, const std::filesystem::path& folder,
                         int world_size, const std::map<std::string, std::string>& notes = {});

}  // namespace hpcboot
