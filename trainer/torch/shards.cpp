#include "shards.hpp"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "hpcboot/torch/collectives.hpp"

namespace hpcboot {
namespace {

// Elements: at least as many bytes. Products of matrices are faster, and round alike, if these are
// aligned as LibTorch's allocators do.
constexpr std::int64_t kAlignment = 64;

std::int64_t aligned(std::int64_t elements) {
  return (elements + kAlignment - 1) / kAlignment * kAlignment;
}

/// As the parameter would be stored densely: with its own strides, if they are dense.
at::Tensor dense(const at::Tensor& parameter) {
  return parameter.is_non_overlapping_and_dense() ? parameter : parameter.contiguous();
}

/// The flat tensor for such a parameter.
FlatParameters& flat_for(const at::Tensor& parameter, const std::vector<at::Tensor>& parameters,
                         std::vector<FlatParameters>& flats) {
  for (FlatParameters& flat : flats) {
    const at::Tensor& first = parameters[flat.places.front().parameter];
    if (first.scalar_type() == parameter.scalar_type() && first.device() == parameter.device()) {
      return flat;
    }
  }
  return flats.emplace_back();
}

}  // namespace

at::Tensor in_memory_order(const at::Tensor& tensor) {
  return tensor.as_strided({tensor.numel()}, {1}, tensor.storage_offset());
}

at::Tensor FlatPlace::in(const at::Tensor& flat) const {
  return flat.as_strided(sizes, strides, flat.storage_offset() + begin);
}

std::vector<FlatParameters> flatten_parameters(const std::vector<at::Tensor>& parameters,
                                               int ranks) {
  std::vector<FlatParameters> flats;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    FlatParameters& flat = flat_for(parameters[i], parameters, flats);
    const std::int64_t begin =
        flat.places.empty() ? 0 : aligned(flat.places.back().begin + flat.places.back().count);
    const at::Tensor values = dense(parameters[i].detach());
    flat.places.push_back({i, begin, values.numel(), values.sizes().vec(), values.strides().vec()});
  }
  const at::NoGradGuard no_grad;
  for (FlatParameters& flat : flats) {
    const FlatPlace& last = flat.places.back();
    flat.shard = aligned((last.begin + last.count + ranks - 1) / ranks);
    flat.elements = at::zeros({flat.shard * ranks}, parameters[last.parameter].options());
    for (const FlatPlace& place : flat.places) {
      at::Tensor parameter = parameters[place.parameter];  // the same one
      const at::Tensor moved = place.in(flat.elements);
      moved.copy_(parameter.detach());
      parameter.set_data(moved);
    }
  }
  return flats;
}

std::optional<ShardPiece> piece_of(const FlatPlace& place, std::int64_t shard, int rank) {
  const std::int64_t begin = rank * shard;
  const std::int64_t first = std::max(place.begin, begin);
  const std::int64_t last = std::min(place.begin + place.count, begin + shard);
  if (first >= last) return std::nullopt;
  return ShardPiece{place.parameter, first - begin, first - place.begin, last - first};
}

std::vector<ShardPiece> pieces_of(const FlatParameters& flat, int rank) {
  std::vector<ShardPiece> pieces;
  for (const FlatPlace& place : flat.places) {
    if (const auto piece = piece_of(place, flat.shard, rank)) pieces.push_back(*piece);
  }
  return pieces;
}

std::vector<Pending<at::Tensor>> start_gather(const ProcessGroup& group,
                                              const FlatParameters& flat) {
  std::vector<Pending<at::Tensor>> pending;
  // Not an all-gather: Gloo's needs another tensor of the size of all shards.
  for (int rank = 0; rank < group.world_size(); ++rank) {
    pending.push_back(broadcast(group, flat.shard_of(rank), rank));
  }
  return pending;
}

std::vector<at::Tensor> deal_shards(const ProcessGroup& group, const FlatParameters& flat,
                                    const at::Tensor& shard, const std::vector<int>& owners) {
  std::vector<std::vector<at::Tensor>> sent(static_cast<std::size_t>(group.world_size()));
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const auto piece = piece_of(flat.places[i], flat.shard, group.rank());
    if (!piece) continue;
    sent[static_cast<std::size_t>(owners[i])].push_back(
        shard.narrow(0, piece->in_shard, piece->count));
  }
  std::vector<at::Tensor> parts;
  const at::Tensor nothing = at::empty({0}, shard.options());
  for (const auto& pieces : sent) parts.push_back(pieces.empty() ? nothing : at::cat(pieces));
  sent.clear();
  const std::vector<at::Tensor> received = all_to_all(group, parts).wait();
  std::vector<at::Tensor> whole(owners.size());
  std::vector<std::int64_t> read(received.size(), 0);  // elements of each rank
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] != group.rank()) continue;
    const FlatPlace& place = flat.places[i];
    const at::Tensor elements = at::empty({place.count}, shard.options().device(at::kCPU));
    for (std::size_t rank = 0; rank < received.size(); ++rank) {
      const auto piece = piece_of(place, flat.shard, static_cast<int>(rank));
      if (!piece) continue;
      elements.narrow(0, piece->in_parameter, piece->count)
          .copy_(received[rank].narrow(0, read[rank], piece->count));
      read[rank] += piece->count;
    }
    whole[i] = elements.as_strided(place.sizes, place.strides);
  }
  return whole;
}

at::Tensor collect_shards(const ProcessGroup& group, const at::Tensor& shard, int root) {
  if (group.rank() != root) {
    send(group, shard, root).wait();
    return {};
  }
  const std::int64_t length = shard.numel();
  at::Tensor all = at::empty({length * group.world_size()}, shard.options().device(at::kCPU));
  const at::Tensor received = at::empty_like(shard);
  for (int rank = 0; rank < group.world_size(); ++rank) {
    const at::Tensor& part = rank == root ? shard : received;
    if (rank != root) recv(group, received, rank).wait();
    all.narrow(0, rank * length, length).copy_(part);
  }
  return all;
}

}  // namespace hpcboot
