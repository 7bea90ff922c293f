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

// Under an MPI launcher `hpcboot run` is no parent of the ranks. It serves a small store, under the
// secret that it handed over: the parents of the ranks report there how a rank ended, and learn of
// the signals that `run` got. What launchers do with signals differs; this does not.

namespace hpcboot::run {

// In place of a signal: the stacks of the rank are to be written, as its standard error.
inline constexpr int kStacksOrder = 100;

// In `run`.
class Control {
 public:
  // @param address that the ranks reach this host at. @throws Error{exchange_failed}
  Control(const rendezvous::Handover& handover, const std::string& address);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // What the ranks need to reach it, beside the hand-over.
  std::map<std::string, std::string> variables() const;
  // Every rank gets the signal, or kStacksOrder, also one that reports later.
  void send(int signal);
  // Asks the parents whether their ranks have given a sign since they were asked before: started or
  // written something. The answers make has_new_signs() true.
  void ask_for_signs();
  bool has_new_signs();
  // Have all ranks written their stacks, or ended?
  bool are_stacks_written() const;
  // Readable as soon as a rank has reported a failure.
  int fd() const;
  // The first that did, without having been told to end.
  std::optional<RankEnd> first_failure() const;
  // The first that ended badly after it was told to.
  std::optional<RankEnd> first_end_when_told() const;
  // How many ranks of which hosts have begun and ended, as far as their parents could tell.
  std::vector<HostWords> words_of_hosts() const;
  // Has the parent of a rank come here yet?
  bool has_ranks() const;
  // Waits for the end of all ranks whose parents have come here. @return false if some still run
  bool await_ranks(std::chrono::milliseconds patience);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// In the parent of a rank.
class ControlLink {
 public:
  // nullptr if `run` named no place. If it does not answer there, all ranks have to know: they meet
  // by it. @throws Error{exchange_failed}
  static std::unique_ptr<ControlLink> open(const Env& env, const rendezvous::Handover& handover,
                                           int rank, std::chrono::milliseconds deadline);
  ~ControlLink();
  ControlLink(const ControlLink&) = delete;
  ControlLink& operator=(const ControlLink&) = delete;

  // What the ranks tell each other, on all of them or on none.
  std::unique_ptr<KeyValueStore> kvs(int rank, int world_size) const;
  // Rank 0 says where the others reach it, and they ask. @throws Error{deadline_exceeded,
  // peer_lost}
  void tell_address(const std::string& address);
  std::string address_of_rank0(std::chrono::milliseconds deadline) const;

  // Have the parents of all ranks come?
  bool has_all_ranks(int world_size) const;
  // What is staged is on this rank's host.
  void tell_staged(int world_size);
  // … on every rank's. Waits so long for it.
  bool are_all_staged(std::chrono::milliseconds patience) const;

  // Readable as soon as there is a signal to hand on, or `run` has gone.
  int fd() const;
  // Has `run` gone, without waiting for its ranks? A broken connection alone does not say so.
  bool is_lost() const;
  // The next of them, or kStacksOrder; nullopt if there is none.
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

// The names that `run` sets for the rank's parent alone: no program gets to see them.
extern const char* const kControlVariable;

}  // namespace hpcboot::run
