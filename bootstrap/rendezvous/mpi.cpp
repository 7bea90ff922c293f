// Without these, mpi.h includes MPI's C++ bindings, which MPI 3 removed.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <exception>

#include "hpcboot/error.hpp"
#include "hpcboot/mpi_session.hpp"

namespace hpcboot {
namespace {

[[noreturn]] void fail(const char* found, const char* expected) {
  throw Error(ErrorCode::exchange_failed, found, expected,
              "choose MpiOwnership::if_needed, or initialise MPI in one place only");
}

}  // namespace

MpiSession::MpiSession(MpiOwnership ownership) : exceptions_at_begin_(std::uncaught_exceptions()) {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0)
    fail("MPI has already been finalised", "a process that has not finalised MPI yet");
  if (initialized != 0 && ownership == MpiOwnership::own)
    fail("MPI is already initialised", "a session that owns MPI to be created before MPI_Init");
  if (initialized == 0 && ownership == MpiOwnership::borrow)
    fail("MPI is not initialised", "MPI_Init before a session that borrows MPI");
  if (initialized == 0) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    owns_ = true;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size_);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &local_rank_);
  MPI_Comm_size(host, &local_size_);
  MPI_Comm_free(&host);
}

MpiSession::~MpiSession() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!owns_ || finalized != 0) return;
  if (std::uncaught_exceptions() > exceptions_at_begin_) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
}

std::string MpiSession::description() const {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version = text.data();
  return "mpi: " + version.substr(0, version.find_first_of(",\n"));
}

void MpiSession::check_agrees(const Resolution& resolution) const {
  const Placement& p = resolution.placement;
  if (p.world_size == world_size_ && p.rank == rank_) return;
  check_not_singleton(p.world_size, world_size_, resolution.launcher, description());
  throw Error(
      ErrorCode::inconsistent_placement,
      resolution.launcher + " reports rank " + std::to_string(p.rank) + " of " +
          std::to_string(p.world_size) + ", but " + description() + " reports rank " +
          std::to_string(rank_) + " of " + std::to_string(world_size_),
      "both to describe the same launch",
      "use the mpirun or mpiexec of the same MPI, or choose the launcher with HPCBOOT_METHODS");
}

}  // namespace hpcboot
