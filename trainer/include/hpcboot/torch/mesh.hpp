#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// The ranks of a group as a grid of named dimensions, with one process group along each of them,
/// like PyTorch's DeviceMesh:
///
///     // 8 ranks: 2 copies of the model, each on 4 ranks that follow each other.
///     hpcboot::Mesh mesh(world, {{"replicate", 2}, {"shard", 4}});
///     hpcboot::DistributedDataParallel ddp(Net(), mesh.group("replicate"));
///
/// The last dimension varies fastest, so that the ranks along it are neighbours, if possible on one
/// host.
class Mesh {
 public:
  /// Collective: every rank of the group constructs it.
  /// @param dimensions name and size of each; the product of the sizes is the number of ranks
  /// @throws Error{invalid_collective} if the sizes or names do not fit;
  ///         Error{deadline_exceeded, peer_lost}
  Mesh(ProcessGroup& group, const std::vector<std::pair<std::string, int>>& dimensions);

  /// The ranks that differ from this one in this dimension only. Its rank in that group is its
  /// coordinate.
  /// @throws Error{invalid_collective} for an unknown name
  ProcessGroup& group(const std::string& dimension);

  /// Of this rank, from 0 to size - 1.
  /// @throws Error{invalid_collective} for an unknown name
  int coordinate(const std::string& dimension) const;

  /// @throws Error{invalid_collective} for an unknown name
  int size(const std::string& dimension) const;

  /// Ends the groups of all dimensions cleanly. Every rank calls it.
  /// @throws Error{deadline_exceeded, peer_lost}
  void shutdown();

 private:
  std::size_t index_of(const std::string& dimension) const;

  std::vector<std::string> names_;
  std::vector<ProcessGroup> groups_;
};

}  // namespace hpcboot
