// Checks that MPI agrees with the environment. Started without a launcher: a world of one.
#include <cstdio>
#include <hpcboot/bootstrap.hpp>
#include <hpcboot/mpi_session.hpp>

int main() {
  const auto env = hpcboot::Env::from_process();
  const auto me = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
  const hpcboot::MpiSession mpi;
  try {
    mpi.check_agrees(me);
  } catch (const hpcboot::Error& error) {
    // Inside the session: left by an exception, it would end the job.
    std::fputs(hpcboot::format_error("consumer", error).c_str(), stderr);
    return error.exit_code();
  }
  std::printf("%s, rank %d of %d\n", mpi.description().c_str(), mpi.rank(), mpi.world_size());
  return 0;
}
