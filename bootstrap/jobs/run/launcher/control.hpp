#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "hpcboot/key_value_store.hpp"
#include "jobs/run/ranks/rank_end.hpp"
#include "lost_hosts.hpp"
#include "rendezvous/handover.hpp"

// Under an MPI launcher `hpcboot run` is not the parent of the ranks. It serves a small store,
// protected by the secret that it handed over: the parents of the ranks report there how a rank
// ended, and learn of the signals that `run` received. Launchers handle signals differently; this
// works the same under all.

namespace hpcboot::run {

// Instead of a signal: write the stacks of the rank to its standard error.
inline constexpr int kStacksOrder = 100;

// In `run`.
class Control {
 public:
  // @param address at which the ranks reach this host. @throws Error{exchange_failed}
  Control(const rendezvous::Handover& handover, const std::string& address);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // What the ranks need to reach it, besides the hand-over.
  std::map<std::string, std::string> variables() const;
  // Every rank gets the signal or kStacksOrder, including ranks that connect later.
  void send(int signal);
  // Asks the parents whether their ranks have given a sign since the last question: started, or
  // written something. The answers make has_new_signs() true.
  void ask_for_signs();
  bool has_new_signs();
  // Have all ranks written their stacks, or ended?
  bool are_stacks_written() const;
  // Readable as soon as a rank has reported a failure.
  int fd() const;
  // The first rank that failed without having been told to end.
  std::optional<RankEnd> first_failure() const;
  // The first that failed after it was told to end.
  std::optional<RankEnd> first_end_when_told() const;
  // How many ranks of each host have started and ended, as far as their parents reported it.
  std::vector<HostWords> words_of_hosts() const;
  // Has the parent of any rank connected yet?
  bool has_ranks() const;
  // Have the parents of this many ranks reported their end?
  bool have_all_ended(int world_size) const;
  // Waits for the end of all ranks whose parents have connected. @return false if some still run
  bool await_ranks(std::chrono::milliseconds patience);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// In the parent of a rank.
class ControlLink {
 public:
  // nullptr if `run` gave no address. If it does not answer there, that is an error: all ranks
  // rendezvous through it. @throws Error{exchange_failed}
  static std::unique_ptr<ControlLink> open(const Env& env, const rendezvous::Handover& handover,
                                           int rank, std::chrono::milliseconds deadline);
  ~ControlLink();
  ControlLink(const ControlLink&) = delete;
  ControlLink& operator=(const ControlLink&) = delete;

  // A store shared by the ranks. Must be used by all of them or by none.
  std::unique_ptr<KeyValueStore> kvs(int rank, int world_size) const;
  // Rank 0 publishes the address at which the others reach it; they query it.
  // @throws Error{deadline_exceeded, peer_lost}
  void tell_address(const std::string& address);
  std::string address_of_rank0(std::chrono::milliseconds deadline) const;

  // Have the parents of all ranks connected?
  bool has_all_ranks(int world_size) const;
  // Reports that the staged copy is on this rank's host.
  void tell_staged(int world_size);
  // Is it on every rank's host? Waits at most `patience`.
  bool are_all_staged(std::chrono::milliseconds patience) const;

  // Readable as soon as there is a signal to forward, or `run` is gone.
  int fd() const;
  // Is `run` gone? A broken connection alone does not prove it.
  bool is_lost() const;
  // The next signal, or kStacksOrder; nullopt if there is none.
  std::optional<int> take_signal();
  // The rank has started, or written something.
  void note_sign();
  void tell_stacks_are_written();
  // How the rank ended, well or not.
  void report(const RankEnd& end);

 private:
  struct Impl;
  explicit ControlLink(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Set by `run` only for the rank's parent: no program sees it.
extern const char* const kControlVariable;

}  // namespace hpcboot::run
