// What a failing run reports: the part of RunReport that is needed at most once.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "hpcboot/error.hpp"
#include "loop/lost_neighbours.hpp"
#include "loop/run_report.hpp"
#include "text/format.hpp"
#include "text/terminal.hpp"

namespace hpcboot::train {
namespace {

// How long ranks whose collective has timed out wait for each other to report it.
constexpr std::chrono::seconds kLastWord{5};
// How long after the end of its connections the end of a rank on this host may become visible: 0.3
// s were seen on a host with seven busy processes on each processor.
constexpr std::chrono::seconds kEndIsSeen{2};

/// Joins indented lines: "; rank 3 has left; rank 4 has left".
std::string in_one_line(const std::string& lines) {
  std::string text;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    text += "; " + line.substr(std::min(line.size(), line.find_first_not_of(' ')));
  }
  return text;
}

}  // namespace

Encoded RunReport::silent_ranks(ErrorCode code) noexcept {
  const bool lost = code == ErrorCode::peer_lost || code == ErrorCode::deadline_exceeded;
  if (communicator_.group() == nullptr || !lost) return {};
  // The connections of a process are closed shortly before its end is visible. Later, while this
  // rank waits, other ranks leave of their own accord.
  lost_ = communicator_.group()->first_account(
      [&] { return lost_neighbours(neighbours_, communicator_.size()); }, kEndIsSeen);
  if (code == ErrorCode::peer_lost) {
    // The broken connection shows that a rank is gone; this call only tells ranks whose collective
    // timed out that this one has not hung.
    communicator_.group()->absent_ranks({});
    return {};
  }
  Encoded text;
  for (const int rank : communicator_.group()->absent_ranks(kLastWord)) {
    const auto known = std::find_if(record_.ranks.begin(), record_.ranks.end(),
                                    [&](const auto& one) { return one.placement.rank == rank; });
    text += encoded_format("  rank {} of {}{} does not answer\n", rank, communicator_.size(),
                           known == record_.ranks.end()
                               ? ""
                               : fmt::format(" on {} (pid {})", known->host, known->pid));
  }
  return text;
}

void RunReport::fail(const std::string& exit_reason, const Encoded& text) noexcept {
  try {
    const std::string lost = lost_.value_or(lost_neighbours(neighbours_, communicator_.size()));
    const Encoded lines = text + terminal_lines(lost);
    err() << encoded_format("trainer: rank {} of {} on {}, pid {}\n{}", communicator_.rank(),
                            communicator_.size(), host_, getpid(), lines);
    if (log_) log_->error(lines);
    finish(exit_reason + in_one_line(lost));
  } catch (const std::exception& second) {
    err() << "trainer: the run record could not be written: " << second.what() << "\n";
  }
}

void RunReport::fail_together(const std::string& exit_reason, const Encoded& text) noexcept {
  try {
    if (communicator_.is_first()) {
      fail(exit_reason, text);
    } else {
      log_->error(text);
      finish(exit_reason);
    }
    // A launcher ends all ranks soon after the first one has ended with an exit code.
    communicator_.finish();
  } catch (const std::exception& second) {
    err() << encoded_format("trainer: rank {} could not wait for the other ranks: {}\n",
                            communicator_.rank(), second.what());
  }
}

}  // namespace hpcboot::train
