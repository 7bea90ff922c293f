#pragma once

#include <string>

#include "hpcboot/resolve.hpp"

// Of the component hpcboot::mpi; the only one that links an MPI.
namespace hpcboot {

/// Who calls MPI_Init and MPI_Finalize?
enum class MpiOwnership {
  own,        ///< this session; it is an error if MPI is initialized already
  borrow,     ///< somebody else, before and after; it is an error if MPI is not initialized
  if_needed,  ///< this session if nobody has before
};

/// MPI for the time of a scope. Left by an exception, a session that owns MPI aborts the job
/// (MPI_Abort on MPI_COMM_WORLD): MPI_Finalize would wait for ever for ranks that wait for this
/// one. The process ends there, so report errors inside the scope.
/// Thread level: MPI_THREAD_FUNNELED; to have another, initialize MPI and borrow it.
class MpiSession {
 public:
  /// Collective. @throws Error{exchange_failed} where `ownership` does not fit, or MPI was
  /// finalized
  explicit MpiSession(MpiOwnership ownership = MpiOwnership::if_needed);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }              ///< in MPI_COMM_WORLD
  int world_size() const { return world_size_; }  ///< of MPI_COMM_WORLD
  /// Among the ranks that share memory with this one (MPI_Comm_split_type), in order of rank.
  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }
  bool owns_mpi() const { return owns_; }
  std::string description() const;  ///< "mpi: Open MPI v4.1.4"

  /// Does MPI see the launch that the environment shows?
  /// @throws Error{inconsistent_placement}; as check_not_singleton() for N worlds of one, as under
  /// an
  ///         srun that does not speak this MPI's protocol
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
