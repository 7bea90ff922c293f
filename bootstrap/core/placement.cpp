#include "hpcboot/placement.hpp"

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

class Validation {
 public:
  Validation(std::string_view source, const std::map<std::string, std::string>& origins)
      : source_(source), origins_(origins) {}

  std::string shown(const char* field, int value) const {
    const auto origin = origins_.find(field);
    return origin != origins_.end() ? origin->second
                                    : std::string(field) + "=" + std::to_string(value);
  }

  std::string pair(const char* a, int x, const char* b, int y) const {
    return shown(a, x) + " with " + shown(b, y);
  }

  void require(bool holds, const std::string& found, const std::string& expected) const {
    if (holds) return;
    throw Error(ErrorCode::inconsistent_placement, std::string(source_) + ": " + found, expected,
                "correct these variables; if they were inherited from an outer job, unset them, "
                "start the program "
                "with its launcher again, or choose the launcher with HPCBOOT_METHODS");
  }

 private:
  std::string_view source_;
  const std::map<std::string, std::string>& origins_;
};

}  // namespace

void validate(const Placement& p, std::string_view source,
              const std::map<std::string, std::string>& origins) {
  const Validation v(source, origins);
  v.require(p.world_size >= 1, v.shown("world_size", p.world_size), "at least one process");
  v.require(0 <= p.rank && p.rank < p.world_size,
            v.pair("rank", p.rank, "world_size", p.world_size), "0 <= rank < world_size");
  v.require(0 <= p.local_rank && p.local_rank < p.world_size,
            v.pair("local_rank", p.local_rank, "world_size", p.world_size),
            "0 <= local_rank < world_size");
  if (p.local_size) {
    v.require(p.local_rank < *p.local_size,
              v.pair("local_rank", p.local_rank, "local_size", *p.local_size),
              "local_rank < local_size");
    v.require(*p.local_size <= p.world_size,
              v.pair("local_size", *p.local_size, "world_size", p.world_size),
              "local_size <= world_size");
  }
  if (p.num_nodes) {
    v.require(1 <= *p.num_nodes && *p.num_nodes <= p.world_size,
              v.pair("num_nodes", *p.num_nodes, "world_size", p.world_size),
              "1 <= num_nodes <= world_size");
  }
  if (p.node_rank) {
    const bool is_known = p.num_nodes.has_value();
    const int nodes = p.num_nodes.value_or(p.world_size);
    v.require(0 <= *p.node_rank && *p.node_rank < nodes,
              v.pair("node_rank", *p.node_rank, is_known ? "num_nodes" : "world_size", nodes),
              is_known ? "0 <= node_rank < num_nodes" : "0 <= node_rank < world_size");
  }
  if (p.local_size && p.num_nodes) {
    // Every other host has at least one process, and a single host has them all.
    v.require(*p.num_nodes - 1 <= p.world_size - *p.local_size,
              v.pair("local_size", *p.local_size, "num_nodes", *p.num_nodes) + " and " +
                  v.shown("world_size", p.world_size),
              "at least one process on every other host");
    v.require(*p.num_nodes > 1 || *p.local_size == p.world_size,
              v.pair("local_size", *p.local_size, "world_size", p.world_size) + " on one host",
              "local_size = world_size on one host");
  }
}

bool is_on_one_host(const Placement& placement) {
  return placement.world_size == 1 || placement.num_nodes == 1 ||
         placement.local_size == placement.world_size;
}

}  // namespace hpcboot
