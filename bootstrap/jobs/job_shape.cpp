#include "job_shape.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "hpcboot/error.hpp"
#include "job.hpp"
#include "walltime.hpp"

namespace hpcboot::jobscripts {
namespace {

// Ranks per node without GPUs: one per socket, assuming two sockets.
constexpr int kRanksWithoutGpus = 2;

// total * taken / parts, for taken <= parts; the product may not fit an int.
int share_of(int total, int taken, int parts) {
  return static_cast<int>(std::int64_t{total} * taken / parts);
}

}  // namespace

JobShape shape_of(const SiteProfile& site, const ScriptRequest& request) {
  const Job job = job_of(site, request.job);
  JobShape shape;
  const int all_gpus = site.number("node.gpus");
  const int most_gpus = job.all_devices ? all_gpus : std::min(all_gpus, 1);
  shape.nodes = request.nodes.value_or(job.one_node ? 1 : 2);
  if (shape.nodes < 1 || (job.one_node && shape.nodes != 1)) {
    throw Error(ErrorCode::malformed_value,
                "--nodes " + std::to_string(shape.nodes) + " for the job " + job.name,
                job.one_node ? "1: the job runs on one node" : "at least 1",
                job.one_node ? "omit --nodes, or choose a multinode job" : "correct --nodes");
  }
  shape.gpus = request.gpus_per_node.value_or(most_gpus);
  if (shape.gpus < 0 || shape.gpus > most_gpus) {
    throw Error(ErrorCode::malformed_value,
                "--gpus-per-node " + std::to_string(shape.gpus) + " for the job " + job.name,
                "0 to " + std::to_string(most_gpus),
                "correct it, or node.gpus of the site, which is " + std::to_string(all_gpus));
  }
  const int usual = shape.gpus > 0 ? shape.gpus : kRanksWithoutGpus;
  shape.ranks_per_node = job.one_rank ? 1 : request.ranks_per_node.value_or(usual);
  if (shape.ranks_per_node < 1 || shape.ranks_per_node > site.number("node.cores")) {
    throw Error(ErrorCode::malformed_value,
                "--ranks-per-node " + std::to_string(shape.ranks_per_node),
                "1 to the node's " + std::to_string(site.number("node.cores")) + " cores",
                "correct it, or node.cores of the site");
  }
  if (site.text("scheduler") == "sge" && shape.gpus > 0 && shape.ranks_per_node > shape.gpus) {
    throw Error(ErrorCode::malformed_value,
                "--ranks-per-node " + std::to_string(shape.ranks_per_node) + " on " +
                    std::to_string(shape.gpus) + " GPUs, under Grid Engine",
                "at most one rank per GPU: a slot is a GPU",
                "lower --ranks-per-node, or use --gpus-per-node 0");
  }
  // Each GPU comes with its share of the cores and memory; without GPUs, each rank does.
  const int parts = shape.gpus > 0 ? all_gpus : std::max(kRanksWithoutGpus, shape.ranks_per_node);
  const int taken = shape.gpus > 0 ? shape.gpus : job.all_devices ? parts : shape.ranks_per_node;
  const int cores_per_rank =
      std::max(1, share_of(site.number("node.cores"), taken, parts) / shape.ranks_per_node);
  shape.cores = cores_per_rank * shape.ranks_per_node;
  shape.memory_gb = share_of(site.number("node.memory_gb"), taken, parts);
  constexpr int kMost = std::numeric_limits<int>::max();
  const int most_nodes = kMost / std::max(shape.cores, shape.gpus);
  if (shape.nodes > most_nodes) {
    throw Error(ErrorCode::malformed_value,
                "--nodes " + std::to_string(shape.nodes) + " for the job " + job.name,
                "at most " + std::to_string(most_nodes) +
                    " nodes: scripts count cores and GPUs up to " + std::to_string(kMost),
                "correct --nodes");
  }
  shape.seconds = walltime_of(request.time.value_or(site.text("queue.time")));
  return shape;
}

}  // namespace hpcboot::jobscripts
