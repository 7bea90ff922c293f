#pragma once

#include <string>

#include "hpcboot/resolve.hpp"

// Part of the component hpcboot::mpi, the only one that links an MPI library.
namespace hpcboot {

/// Who calls MPI_Init and MPI_Finalize?
enum class MpiOwnership {
  own,        ///< this session; it is an error if MPI is already initialised
  borrow,     ///< other code, before and after; it is an error if MPI is not initialised
  if_needed,  ///< this session, if MPI is not yet initialised
};

/// MPI for the duration of a scope. If the scope is left by an exception, a session that owns MPI
/// aborts the job (MPI_Abort on MPI_COMM_WORLD): MPI_Finalize could hang on ranks that wait for
/// this one. The process ends there, so report errors inside the scope. Thread level:
/// MPI_THREAD_FUNNELED; for another level, initialise MPI yourself and borrow it.
class MpiSession {
 public:
  /// Collective. @throws Error{exchange_failed} if `ownership` does not match the state of MPI, or
  /// MPI has been finalised
  explicit MpiSession(MpiOwnership ownership = MpiOwnership::if_needed);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }              ///< in MPI_COMM_WORLD
  int world_size() const { return world_size_; }  ///< of MPI_COMM_WORLD
  /// Among the ranks that share memory with this one (MPI_Comm_split_type), ordered by rank.
  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }
  bool owns_mpi() const { return owns_; }
  std::string description() const;  ///< "mpi: Open MPI v4.1.4"

  /// Checks that MPI and the environment describe the same launch.
  /// @throws Error{inconsistent_placement}; as check_not_singleton() if each process initialised as
  /// a singleton, as under an srun that does not speak this MPI's protocol
  void check_agrees(const Resolution& resolution) const;

 private:
  bool owns_ = false;
  int exceptions_at_begin_ = 0;
  int rank_ = 0;
  int world_size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
};

}  // namespace hpcboot
