#pragma once

#include <string>
#include <vector>

#include "hpcboot/error.hpp"
#include "jobs/run/plan/plan.hpp"

namespace hpcboot::run {

// A command timed out or was killed, perhaps with the job: the scheduler may have carried out the
// request, or may still do so.
class NoAnswer : public Error {
 public:
  using Error::Error;
};

// What a command of the scheduler prints.
// @throws Error{backend_unavailable} with the command and its output, if it is missing or fails
// @throws NoAnswer if it times out or is killed
std::string answer_of(const Surroundings& s, const std::vector<std::string>& words,
                      const std::string& input = "");

// Throws the same error for a command that users know as `command`.
[[noreturn]] void fail(const std::string& command, const CommandResult& result);

}  // namespace hpcboot::run
