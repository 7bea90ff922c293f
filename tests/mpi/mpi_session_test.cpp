#include "hpcboot/mpi_session.hpp"

#include <cstdio>
#include <stdexcept>
#include <string>

#include "hpcboot/error.hpp"

// Run under mpirun. Not a GoogleTest program: every rank must reach each collective call.
// "throw": rank 0 leaves its session by an exception, which must end the ranks that wait for it.
namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  ++failures;
}

bool is_refused(hpcboot::MpiOwnership ownership) {
  try {
    const hpcboot::MpiSession session(ownership);
  } catch (const hpcboot::Error& error) {
    return error.code() == hpcboot::ErrorCode::exchange_failed;
  }
  return false;
}

void leave_by_exception() {
  try {
    const hpcboot::MpiSession session(hpcboot::MpiOwnership::own);
    if (session.rank() == 0) throw std::runtime_error("rank 0 leaves");
    // The others wait for rank 0 in their destructor's MPI_Finalize.
  } catch (const std::runtime_error&) {
    std::fprintf(stderr, "FAILED: the job continues after an exception\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  using hpcboot::MpiOwnership;
  if (argc == 2 && std::string(argv[1]) == "throw") {
    leave_by_exception();
    return 0;
  }
  const hpcboot::Env env = hpcboot::Env::from_process();
  hpcboot::Resolution me = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
  expect(is_refused(MpiOwnership::borrow), "borrowing before MPI_Init is refused");
  {
    const hpcboot::MpiSession session;
    expect(session.owns_mpi(), "the first session owns MPI");
    try {
      session.check_agrees(me);
    } catch (const hpcboot::Error& error) {
      // Printed here: outside this scope the session has ended the job.
      std::fprintf(stderr, "%s", hpcboot::format_error("mpi_session_test", error).c_str());
      return error.exit_code();
    }
    expect(session.local_rank() == me.placement.local_rank, "local rank");
    expect(session.local_size() == me.placement.local_size, "local size");
    expect(session.description().rfind("mpi: ", 0) == 0, "it names the library");
    expect(is_refused(MpiOwnership::own), "owning twice is refused");
    {
      const hpcboot::MpiSession borrowed(MpiOwnership::borrow);
      const hpcboot::MpiSession second;
      expect(!borrowed.owns_mpi() && !second.owns_mpi(), "later sessions borrow");
    }
    expect(hpcboot::MpiSession().rank() == me.placement.rank, "MPI outlives those who borrow it");
    me.placement.world_size += 1;
    try {
      session.check_agrees(me);
      expect(false, "another size is an error");
    } catch (const hpcboot::Error& error) {
      const bool singleton = error.found().find("each is rank 0 of 1") != std::string::npos;
      expect(singleton == (session.world_size() == 1), "singletons are explained");
    }
  }
  expect(is_refused(MpiOwnership::if_needed), "after MPI_Finalize there is no MPI");
  return failures == 0 ? 0 : 1;
}
