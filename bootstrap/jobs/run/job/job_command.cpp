#include "job_command.hpp"

#include "hpcboot/error.hpp"

namespace hpcboot::run {

void fail(const std::string& command, const CommandResult& result) {
  const std::string reason = failure_of(result);
  if (result.is_late || result.signal != 0) {
    throw NoAnswer(ErrorCode::backend_unavailable, "`" + command + "`: " + reason,
                   "a definite answer: without one, nothing is submitted a second time",
                   "check whether the scheduler has queued the job");
  }
  throw Error(ErrorCode::backend_unavailable, "`" + command + "`: " + reason,
              "an answer from the scheduler", "try the command by hand, in a job");
}

std::string answer_of(const Surroundings& s, const std::vector<std::string>& words,
                      const std::string& input) {
  const CommandResult result = s.run_command(words, input);
  if (result.is_ok() && !result.is_late) return result.output;
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
  fail(command, result);
}

}  // namespace hpcboot::run
