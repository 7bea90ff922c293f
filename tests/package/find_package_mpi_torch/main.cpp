// A process group of LibTorch and MPI in one process, each with the same ranks.
#include <torch/torch.h>

#include <hpcboot/bootstrap.hpp>
#include <hpcboot/mpi_session.hpp>
#include <hpcboot/torch/process_group.hpp>

int main() {
  const auto env = hpcboot::Env::from_process();
  const auto me = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
  auto group = hpcboot::make_process_group(me, env);
  bool same = false;
  {
    const hpcboot::MpiSession mpi;
    same = mpi.rank() == group.rank() && mpi.world_size() == group.world_size();
  }
  group.shutdown();
  return same ? 0 : 1;
}
