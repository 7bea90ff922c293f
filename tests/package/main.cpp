// The program of every package test: resolves a rank from the environment of mpirun, without an
// mpirun.
#include <hpcboot/resolve.hpp>

int main() {
  const hpcboot::Env env({{"OMPI_COMM_WORLD_RANK", "3"},
                          {"OMPI_COMM_WORLD_SIZE", "4"},
                          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  const hpcboot::Resolution resolution = hpcboot::resolve(env, hpcboot::Facts{});
  return resolution.placement.rank == 3 && resolution.placement.world_size == 4 ? 0 : 1;
}
