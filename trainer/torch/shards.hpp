#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hpcboot/torch/pending.hpp"
#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// The elements of a dense tensor in the order of their memory, without a copy.
/// @param tensor non-overlapping and dense
at::Tensor in_memory_order(const at::Tensor& tensor);

/// Where a parameter is in a flat tensor.
struct FlatPlace {
  std::size_t parameter;  ///< its index
  std::int64_t begin;     ///< element of the flat tensor
  std::int64_t count;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;

  /// A tensor of the parameter's shape and strides in the memory of a flat tensor.
  at::Tensor in(const at::Tensor& flat) const;
};

/// Parameters of one type on one device in one tensor of one dimension, cut into a shard of equal
/// length for each rank. Each parameter, and each shard, starts at a multiple of 64 elements.
struct FlatParameters {
  at::Tensor elements;
  std::int64_t shard;  ///< elements of one
  std::vector<FlatPlace> places;

  at::Tensor shard_of(int rank) const { return elements.narrow(0, rank * shard, shard); }
};

/// Moves the parameters, which are dense, into flat tensors, one for each type and device. They
/// keep shape, strides and values. Each rank of a group gets the same flat tensors.
std::vector<FlatParameters> flatten_parameters(const std::vector<at::Tensor>& parameters,
                                               int ranks);

/// The part of a parameter that is in a rank's shard.
struct ShardPiece {
  std::size_t parameter;      ///< its index
  std::int64_t in_shard;      ///< the piece's first element in the shard
  std::int64_t in_parameter;  ///< and in the parameter, in the order of its memory
  std::int64_t count;
};

/// The part of one parameter of a flat tensor; none if it is in other ranks' shards.
std::optional<ShardPiece> piece_of(const FlatPlace& place, std::int64_t shard, int rank);

/// In the order of the shard.
std::vector<ShardPiece> pieces_of(const FlatParameters& flat, int rank);

/// Starts to copy the shard of each rank, which is in its `elements`, to all other ranks.
std::vector<Pending<at::Tensor>> start_gather(const ProcessGroup& group,
                                              const FlatParameters& flat);

/// Collective. Sends each parameter, whole, to one rank.
/// @param shard this rank's; of one type and length on all ranks
/// @param owners the rank for each of flat.places
/// @return the parameter in each place, on the CPU; undefined if it is another rank's
std::vector<at::Tensor> deal_shards(const ProcessGroup& group, const FlatParameters& flat,
                                    const at::Tensor& shard, const std::vector<int>& owners);

/// Collective. Collects shards, one of each rank, one after another on rank `root`.
/// @param shard this rank's; of one type and length on all ranks
/// @return all elements, on the CPU; undefined on all ranks but `root`
at::Tensor collect_shards(const ProcessGroup& group, const at::Tensor& shard, int root);

}  // namespace hpcboot
