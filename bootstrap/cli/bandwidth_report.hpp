#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check_report.hpp"
#include "gpu/gpu_link.hpp"
#include "hpcboot/encode.hpp"
#include "json/bounded_json.hpp"
#include "text/table.hpp"

// Which links `hpcboot check --bandwidth` measures, and what it says about them.
namespace hpcboot::tool {

using RankPair = std::pair<int, int>;

struct LinkResult {
  RankPair ranks;
  double bytes_per_second = 0;         // 0 if it was not measured
  std::string problem{};               // why not
  std::optional<gpu::GpuLink> gpus{};  // of the two ranks, if they are of one host and known
};

// Every pair of up to 16 ranks. Of more, one pair on each host that has two ranks, and every pair
// of up to 16 hosts, else each host and the next one.
// @param hosts of the ranks, by rank
std::vector<RankPair> links_to_measure(const std::vector<std::string>& hosts);

// A table of the links, the slowest one by name, and what it means for the training of a model; of
// GPUs, the slowest kind of link.
// @param reports of all ranks, by rank
// @param parameters of the model
Encoded bandwidth_text(const std::vector<LinkResult>& links, const std::vector<RankReport>& reports,
                       double parameters, const Look& look);
Json bandwidth_json(const std::vector<LinkResult>& links, const std::vector<RankReport>& reports,
                    double parameters);

}  // namespace hpcboot::tool
