#pragma once

#include <optional>
#include <string>

#include "event_loop.hpp"

namespace hpcboot::run {

// Standard input for rank 0: read one piece at a time, and never in the background of a terminal,
// which would stop this process.
class RunInput {
 public:
  void add_to(PollSet& set) const;
  // The next piece, empty at the end; nullopt if none is available.
  std::optional<std::string> read(const PollSet& set);
  // The last piece was consumed: the next one may be read.
  void go_on() { is_waiting_ = false; }

 private:
  bool is_waiting_ = false;
  bool has_ended_ = false;
};

}  // namespace hpcboot::run
