#include "process_mapping.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "hpcboot/env.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

[[noreturn]] void fail(std::string_view text, std::string_view variable) {
  throw Error(ErrorCode::malformed_value,
              std::string(variable) + "='" + std::string(text.substr(0, 80)) + "'",
              "a process mapping such as (vector,(0,2,4)): first node, nodes, ranks per node",
              "unset " + std::string(variable) + " or start the program with its launcher again");
}

// Removes `token` from the front of `rest`, skipping leading spaces; false if `rest` does not start
// with it.
bool take_token(std::string_view& rest, std::string_view token) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.substr(0, token.size()) != token) return false;
  rest.remove_prefix(token.size());
  return true;
}

bool take_number(std::string_view& rest, std::int64_t minimum, std::int64_t& value) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::size_t length = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto number = parse_whole_number(rest.substr(0, length));
  rest.remove_prefix(length);
  if (!number || *number < minimum || *number > std::numeric_limits<int>::max()) return false;
  value = *number;
  return true;
}

struct Item {
  std::int64_t first = 0;
  std::int64_t nodes = 1;
  std::int64_t ranks = 1;
};

// "(first,nodes,ranks)", or "first" for one rank there.
bool take_item(std::string_view& rest, Item& item) {
  if (!take_token(rest, "(")) return take_number(rest, 0, item.first);
  return take_number(rest, 0, item.first) && take_token(rest, ",") &&
         take_number(rest, 1, item.nodes) && take_token(rest, ",") &&
         take_number(rest, 1, item.ranks) && take_token(rest, ")");
}

// "item", or "[item,item,…]xTIMES".
bool take_items(std::string_view& rest, std::vector<Item>& items, std::int64_t& times) {
  times = 1;
  items.assign(1, {});
  if (!take_token(rest, "[")) return take_item(rest, items.back());
  if (!take_item(rest, items.back())) return false;
  while (take_token(rest, ",")) {
    items.emplace_back();
    if (!take_item(rest, items.back())) return false;
  }
  return take_token(rest, "]") && take_token(rest, "x") && take_number(rest, 1, times);
}

}  // namespace

ProcessMapping ProcessMapping::parse(std::string_view text, std::string_view variable) {
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  constexpr std::size_t kMaxBlocks = 1U << 20U;  // repeated blocks take memory
  ProcessMapping mapping;
  std::string_view rest = text;
  if (!take_token(rest, "(") || !take_token(rest, "vector")) fail(text, variable);
  std::int64_t size = 0;
  std::vector<Item> items;
  while (take_token(rest, ",")) {
    std::int64_t times = 1;
    if (!take_items(rest, items, times)) fail(text, variable);
    for (std::int64_t i = 0; i < times; ++i) {
      for (const Item& item : items) {
        if (item.first + item.nodes > kMax || size + item.nodes * item.ranks > kMax ||
            mapping.blocks_.size() == kMaxBlocks)
          fail(text, variable);
        mapping.blocks_.push_back({static_cast<int>(item.first), static_cast<int>(item.nodes),
                                   static_cast<int>(item.ranks), static_cast<int>(size)});
        size += item.nodes * item.ranks;
      }
    }
  }
  if (!take_token(rest, ")") || rest.find_first_not_of(' ') != std::string_view::npos || size == 0)
    fail(text, variable);
  mapping.size_ = static_cast<int>(size);
  return mapping;
}

int ProcessMapping::node_of(int rank) const {
  const int in_round = rank % size_;
  // The last block that starts at or before this rank.
  const auto after =
      std::upper_bound(blocks_.begin(), blocks_.end(), in_round,
                       [](int value, const Block& block) { return value < block.first_rank; });
  const Block& block = *(after - 1);
  return block.first_node + (in_round - block.first_rank) / block.ranks_per_node;
}

// Ranks of `node` below `rank`, over all rounds.
int ProcessMapping::ranks_before(int rank, int node) const {
  std::int64_t in_full_round = 0;
  std::int64_t in_last_round = 0;
  const int rest = rank % size_;
  for (const Block& block : blocks_) {
    if (node < block.first_node || node >= block.first_node + block.nodes) continue;
    const int begin = block.first_rank + (node - block.first_node) * block.ranks_per_node;
    in_full_round += block.ranks_per_node;
    in_last_round += std::clamp(rest - begin, 0, block.ranks_per_node);
  }
  return static_cast<int>(rank / size_ * in_full_round + in_last_round);
}

int ProcessMapping::local_rank_of(int rank) const {
  return ranks_before(rank, node_of(rank));
}

int ProcessMapping::local_size(int node, int world_size) const {
  return ranks_before(world_size, node);
}

}  // namespace hpcboot
