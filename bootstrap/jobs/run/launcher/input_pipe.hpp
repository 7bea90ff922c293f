#pragma once

#include <string>

#include "jobs/run/ranks/event_loop.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "jobs/run/ranks/run_input.hpp"

namespace hpcboot::run {

// Forwards standard input to a launcher, which passes it to rank 0: a launcher that leads its own
// process group must not read from the terminal.
class InputPipe {
 public:
  InputPipe();  // @throws Error{backend_unavailable}
  ~InputPipe();
  InputPipe(const InputPipe&) = delete;
  InputPipe& operator=(const InputPipe&) = delete;

  int for_launcher() const { return ends_.first; }
  // Call once the launcher has inherited its end.
  void hand_over();

  void add_to(PollSet& set);
  void handle(const PollSet& set);

 private:
  void write_rest();

  FdPair ends_;
  RunInput input_;
  std::string rest_;
};

}  // namespace hpcboot::run
