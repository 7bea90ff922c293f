#include "arguments.hpp"

#include <algorithm>
#include <sstream>

#include "core/classic.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {

void require_rank(const ProcessGroup& group, int rank, const std::string& role) {
  if (rank >= 0 && rank < group.world_size()) return;
  throw Error(ErrorCode::invalid_collective, "rank " + std::to_string(rank) + " as the " + role,
              "a rank of this group, from 0 to " + std::to_string(group.world_size() - 1),
              "pass the rank in this group; global_ranks() lists its ranks in the launch");
}

void require_parts(const ProcessGroup& group, const std::vector<at::Tensor>& parts,
                   const std::string& doing) {
  const auto ranks = static_cast<std::size_t>(group.world_size());
  const bool is_one_kind = std::all_of(parts.begin(), parts.end(), [&](const at::Tensor& part) {
    return part.scalar_type() == parts[0].scalar_type() && part.device() == parts[0].device();
  });
  if (parts.size() == ranks && is_one_kind) return;
  throw Error(ErrorCode::invalid_collective,
              doing + " of " + std::to_string(parts.size()) + " tensors" +
                  (is_one_kind ? "" : " of several types or devices"),
              std::to_string(ranks) + " tensors of one type on one device, one for each rank",
              "pass an empty tensor for a rank that gets nothing");
}

std::string shape_text(at::IntArrayRef sizes) {
  Classic<std::ostringstream> text;
  text << sizes;
  return text.str();
}

std::string shape_text(const at::Tensor& tensor) {
  return shape_text(tensor.sizes());
}

}  // namespace hpcboot
