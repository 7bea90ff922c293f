#pragma once

#include <cstdint>
#include <vector>

#include "hpcboot/torch/estimate.hpp"

namespace hpcboot::estimate {

/// A layer's amounts on one rank of a tensor-parallel group.
Amounts on_one_rank(const Layer& layer, std::int64_t tensor);

/// A layer as one device computes it.
struct Part {
  Amounts amounts;
  double output = 0;
  int sums = 0;
};

/// The layers of each stage of the pipeline: consecutive ones, with about the same number of
/// operations in each stage.
std::vector<std::vector<Part>> stages_of(const Model& model, const Layout& layout);

/// Bytes that each of `ranks` sends when a tensor of `bytes` is reduced to shards, or gathered from
/// them; an all-reduce sends twice as many. As a ring sends them, which is the minimum.
double ring_bytes(std::int64_t ranks, double bytes);

}  // namespace hpcboot::estimate
