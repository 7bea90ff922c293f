#include "shards.hpp"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

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

at::Tensor in_shape_of(const at::Tensor& like, const at::Tensor& elements) {
  return elements.as_strided(like.sizes(), like.strides(), elements.storage_offset());
}

std::vector<FlatParameters> flatten_parameters(const std::vector<at::Tensor>& parameters,
                                               int ranks) {
  std::vector<FlatParameters> flats;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    FlatParameters& flat = flat_for(parameters[i], parameters, flats);
    const std::int64_t begin =
        flat.places.empty() ? 0 : aligned(flat.places.back().begin + flat.places.back().count);
    flat.places.push_back({i, begin, parameters[i].numel()});
  }
  const at::NoGradGuard no_grad;
  for (FlatParameters& flat : flats) {
    const FlatPlace& last = flat.places.back();
    flat.shard = aligned((last.begin + last.count + ranks - 1) / ranks);
    flat.elements = at::zeros({flat.shard * ranks}, parameters[last.parameter].options());
    for (const FlatPlace& place : flat.places) {
      at::Tensor parameter = parameters[place.parameter];  // the same one
      const at::Tensor values = dense(parameter.detach());
      const at::Tensor moved =
          in_shape_of(values, flat.elements.narrow(0, place.begin, place.count));
      moved.copy_(values);
      parameter.set_data(moved);
    }
  }
  return flats;
}

std::vector<ShardPiece> pieces_of(const FlatParameters& flat, int rank) {
  const std::int64_t begin = rank * flat.shard;
  std::vector<ShardPiece> pieces;
  for (const FlatPlace& place : flat.places) {
    const std::int64_t first = std::max(place.begin, begin);
    const std::int64_t last = std::min(place.begin + place.count, begin + flat.shard);
    if (first >= last) continue;
    pieces.push_back({place.parameter, first - begin, first - place.begin, last - first});
  }
  return pieces;
}

}  // namespace hpcboot
