#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hpcboot {

/// The position of a process among its peers. The defaults describe a single process.
struct Placement {
  int rank = 0;                   ///< 0 <= rank < world_size, unique over all processes
  int world_size = 1;             ///< number of processes
  int local_rank = 0;             ///< 0 <= local_rank < local_size, unique on its host
  std::optional<int> local_size;  ///< number of processes on this host
  std::optional<int> node_rank;   ///< index of this host among the hosts of the launch
  std::optional<int> num_nodes;   ///< number of hosts of the launch
};

/// Checks all invariants of the known fields: 0 <= rank < world_size, 0 <= local_rank < local_size
/// <= world_size, 0 <= node_rank < num_nodes <= world_size. local_rank <= rank is not required
/// (cyclic placement). Nodes may have different sizes.
/// @param source where the values come from, for the message.
/// @param origins also for the message: field -> the text shown instead of "rank=5", such as
///        "OMPI_COMM_WORLD_RANK=5 (rank)".
/// @throws Error{inconsistent_placement}
void validate(const Placement& placement, std::string_view source,
              const std::map<std::string, std::string>& origins = {});

/// Are all processes known to be on the same host?
bool is_on_one_host(const Placement& placement);

/// The origin of a field.
struct Provenance {
  std::string source;    ///< a launcher, "allocation", "exchange", "rule", …
  std::string variable;  ///< the variable or the rule; may be empty
};

}  // namespace hpcboot
