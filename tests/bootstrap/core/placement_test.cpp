#include "hpcboot/placement.hpp"

#include <gtest/gtest.h>

#include "hpcboot/resolve.hpp"
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
                             make(1, 4, 0, 2, 1, 2)}) {  // the last: cyclic distribution
    EXPECT_NO_THROW(validate(p, "test"));
  }
}

TEST(Placement, RefusesWhatCannot) {
  for (const Placement& p :
       {make(4, 4, 0), make(-1, 4, 0), make(0, 0, 0), make(0, 4, 4), make(0, 4, -1),
        make(0, 4, 2, 2), make(0, 2, 0, 3), make(0, 4, 0, 2, 2, 2), make(0, 4, 0, 2, -1, 2),
        make(0, 4, 0, 2, 0, 5), make(0, 4, 0, 4, 0, 2), make(0, 4, 0, 2, 0, 1), make(0, 4, 0, 2, 4),
        make(0, 2147483647, 0, 2147483647, 0, 2)}) {
    test::expect_error(
        ErrorCode::inconsistent_placement, [&] { validate(p, "slurm"); },
        "slurm: ", "HPCBOOT_METHODS");
  }
}

TEST(Placement, ErrorsNameTheVariables) {
  const auto found = [](const char* dump) {
    try {
      resolve(Env::parse(dump), Facts{});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::inconsistent_placement) << dump;
      return error.found();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(found("OMPI_COMM_WORLD_RANK=5\nOMPI_COMM_WORLD_SIZE=4\nOMPI_COMM_WORLD_LOCAL_RANK=0\n"),
            "openmpi: OMPI_COMM_WORLD_RANK=5 (rank) with OMPI_COMM_WORLD_SIZE=4 (world_size)");
  EXPECT_EQ(found("RANK=0\nWORLD_SIZE=4\nLOCAL_RANK=2\nLOCAL_WORLD_SIZE=2\n"),
            "generic: LOCAL_RANK=2 (local_rank) with LOCAL_WORLD_SIZE=2 (local_size)");
  // A value derived by a rule is not attributed to a variable.
  EXPECT_EQ(found("RANK=0\nWORLD_SIZE=4\nLOCAL_RANK=0\nLOCAL_WORLD_SIZE=2\nGROUP_RANK=0\n"
                  "GROUP_WORLD_SIZE=1\n"),
            "generic: LOCAL_WORLD_SIZE=2 (local_size) with WORLD_SIZE=4 (world_size) on one host");
  // Nor is a number counted from a list.
  EXPECT_EQ(
      found("SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_STEP_ID=0\nSLURM_PROCID=1\n"
            "SLURM_LOCALID=1\nSLURM_NODEID=0\nSLURM_STEP_NUM_TASKS=2\n"
            "SLURM_STEP_NUM_NODES=2\nSLURM_STEP_NODELIST=n[1-2]\n"
            "SLURM_STEP_TASKS_PER_NODE=1(x2)\n"),
      "slurm: SLURM_LOCALID=1 (local_rank) with local_size=1 (from SLURM_STEP_TASKS_PER_NODE)");
  // A sum that no number of tasks can be.
  EXPECT_EQ(found("SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_STEP_ID=0\nSLURM_PROCID=1\n"
                  "SLURM_LOCALID=1\nSLURM_NODEID=0\nSLURM_STEP_NUM_NODES=2\n"
                  "SLURM_STEP_NODELIST=n[1-2]\nSLURM_STEP_TASKS_PER_NODE=2147483647(x2)\n"),
            "slurm: SLURM_STEP_TASKS_PER_NODE='2147483647(x2)'");
}

}  // namespace
}  // namespace hpcboot
