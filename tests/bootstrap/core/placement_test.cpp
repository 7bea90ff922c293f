#include "hpcboot/placement.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace hpcboot {
namespace {

Placement make(int rank, int world_size, int local_rank, std::optional<int> local_size = {},
               std::optional<int> node_rank = {}, std::optional<int> num_nodes = {}) {
  return {rank, world_size, local_rank, local_size, node_rank, num_nodes};
}

TEST(Placement, AcceptsWhatCanBeTrue) {
  for (const Placement& p : {make(0, 1, 0, 1, 0, 1), make(3, 4, 1, 2, 1, 2), make(3, 4, 1),
                             make(2, 3, 0, 1, 1, 2), make(0, 5, 0, 4, 0, 2), make(1, 4, 1, 4, 0, 1),
                             make(1, 4, 0, 2, 1, 2)}) {  // the last: dealt in turn
    EXPECT_NO_THROW(validate(p, "test"));
  }
}

TEST(Placement, RefusesWhatCannot) {
  for (const Placement& p :
       {make(4, 4, 0), make(-1, 4, 0), make(0, 0, 0), make(0, 4, 4), make(0, 4, -1),
        make(0, 4, 2, 2), make(0, 2, 0, 3), make(0, 4, 0, 2, 2, 2), make(0, 4, 0, 2, -1, 2),
        make(0, 4, 0, 2, 0, 5), make(0, 4, 0, 4, 0, 2), make(0, 4, 0, 2, 0, 1),
        make(0, 4, 0, 2, 4)}) {
    test::expect_error(
        ErrorCode::inconsistent_placement, [&] { validate(p, "slurm"); },
        "slurm: ", "HPCBOOT_METHODS");
  }
}

}  // namespace
}  // namespace hpcboot
