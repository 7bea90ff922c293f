#include "hpcboot/torch/mesh.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

using Dimensions = std::vector<std::pair<std::string, int>>;

std::string text_of(const Dimensions& dimensions) {
  std::string text;
  for (const auto& [name, size] : dimensions) {
    text += (text.empty() ? "" : " x ") + name + " " + std::to_string(size);
  }
  return text;
}

void require_grid(const Dimensions& dimensions, int ranks) {
  std::int64_t product = 1;
  std::set<std::string> names;
  bool is_positive = !dimensions.empty();
  for (const auto& [name, size] : dimensions) {
    is_positive = is_positive && size > 0;
    // Beyond the number of ranks, the product no longer matters, and must not overflow.
    product = std::min<std::int64_t>(product * std::max(size, 1), std::int64_t{ranks} + 1);
    names.insert(name);
  }
  if (is_positive && product == ranks && names.size() == dimensions.size()) return;
  throw Error(ErrorCode::invalid_collective,
              "a mesh of " + text_of(dimensions) + " over " + std::to_string(ranks) + " ranks",
              "different names, and sizes whose product is the number of ranks",
              "change the sizes or the number of ranks");
}

}  // namespace

Mesh::Mesh(ProcessGroup& group, const Dimensions& dimensions) {
  require_grid(dimensions, group.world_size());
  int stride = group.world_size();
  for (const auto& [name, size] : dimensions) {
    // The distance between neighbours along this dimension.
    stride /= size;
    const int coordinate = group.rank() / stride % size;
    const int first = group.rank() - coordinate * stride;
    std::vector<int> ranks;
    for (int i = 0; i < size; ++i) ranks.push_back(first + i * stride);
    names_.push_back(name);
    groups_.push_back(*group.subgroup(ranks));
  }
}

std::size_t Mesh::index_of(const std::string& dimension) const {
  const auto found = std::find(names_.begin(), names_.end(), dimension);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  std::string known;
  for (const std::string& name : names_) known += (known.empty() ? "" : ", ") + name;
  throw Error(ErrorCode::invalid_collective, "the dimension '" + dimension + "' of a mesh",
              "one of " + known, "pass a name that the mesh was made with");
}

ProcessGroup& Mesh::group(const std::string& dimension) {
  return groups_[index_of(dimension)];
}
int Mesh::coordinate(const std::string& dimension) const {
  return groups_[index_of(dimension)].rank();
}
int Mesh::size(const std::string& dimension) const {
  return groups_[index_of(dimension)].world_size();
}

void Mesh::shutdown() {
  for (ProcessGroup& group : groups_) group.shutdown();
}

}  // namespace hpcboot
