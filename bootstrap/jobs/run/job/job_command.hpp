#pragma once

#include <string>
#include <vector>

#include "hpcboot/error.hpp"
#include "jobs/run/plan/plan.hpp"

namespace hpcboot::run {

// Of a command that took too long, or was killed, perhaps with the job: the scheduler may have done
// what it was asked for, or do it yet.
class NoAnswer : public Error {
 public:
  using Error::Error;
};

// What a command of the scheduler prints. @throws Error{backend_unavailable} that names the command
// and what it printed, if it is not there or fails, NoAnswer if it takes too long or is
// killed
std::string answer_of(const Surroundings& s, const std::vector<std::string>& words,
                      const std::string& input = "");

// The same error, for a command that people know as `command`.
[[noreturn]] void fail(const std::string& command, const CommandResult& result);

}  // namespace hpcboot::run
