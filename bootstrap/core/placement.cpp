#include "hpcboot/placement.hpp"

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

void require(bool holds, std::string_view source, const std::string& found,
             const std::string& expected) {
  if (holds) return;
  throw Error(
      ErrorCode::inconsistent_placement, std::string(source) + ": " + found, expected,
      "a variable was inherited from an outer job or set by hand: unset it, start the program "
      "with its launcher again, or choose the launcher with HPCBOOT_METHODS");
}

std::string pair(const char* a, int x, const char* b, int y) {
  return std::string(a) + "=" + std::to_string(x) + " with " + b + "=" + std::to_string(y);
}

}  // namespace

void validate(const Placement& p, std::string_view source) {
  require(p.world_size >= 1, source, "world_size=" + std::to_string(p.world_size),
          "at least one process");
  require(0 <= p.rank && p.rank < p.world_size, source,
          pair("rank", p.rank, "world_size", p.world_size), "0 <= rank < world_size");
  require(0 <= p.local_rank && p.local_rank < p.world_size, source,
          pair("local_rank", p.local_rank, "world_size", p.world_size),
          "0 <= local_rank < world_size");
  if (p.local_size) {
    require(p.local_rank < *p.local_size, source,
            pair("local_rank", p.local_rank, "local_size", *p.local_size),
            "local_rank < local_size");
    require(*p.local_size <= p.world_size, source,
            pair("local_size", *p.local_size, "world_size", p.world_size),
            "local_size <= world_size");
  }
  if (p.num_nodes) {
    require(1 <= *p.num_nodes && *p.num_nodes <= p.world_size, source,
            pair("num_nodes", *p.num_nodes, "world_size", p.world_size),
            "1 <= num_nodes <= world_size");
  }
  if (p.node_rank) {
    require(0 <= *p.node_rank && *p.node_rank < p.num_nodes.value_or(p.world_size), source,
            pair("node_rank", *p.node_rank, "num_nodes", p.num_nodes.value_or(p.world_size)),
            "0 <= node_rank < num_nodes");
  }
  if (p.local_size && p.num_nodes) {
    // The other hosts hold at least one process each, and a lone host holds them all.
    require(*p.local_size + *p.num_nodes - 1 <= p.world_size, source,
            pair("local_size", *p.local_size, "num_nodes", *p.num_nodes) +
                " and world_size=" + std::to_string(p.world_size),
            "at least one process on every other host");
    require(*p.num_nodes > 1 || *p.local_size == p.world_size, source,
            pair("local_size", *p.local_size, "world_size", p.world_size) + " on one host",
            "local_size = world_size on one host");
  }
}

}  // namespace hpcboot
