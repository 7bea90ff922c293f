#pragma once

#include <string>

namespace hpcboot::run {

struct KeeperOrder {
  std::string source;
  std::string folder;  // of the stage
  int report = -1;     // the write end of the pipe that a Stage reads
};

// The first byte of a report. It is followed by the payload of an Error, or by the note, a byte 0,
// which no path contains, and the path of the copy.
inline constexpr char kReportError = 'E';
inline constexpr char kReportStaged = 'S';
inline constexpr char kReportBehindNote = '\0';

// The main function of the keeper process. Of several on a host, the first copies and stays until
// all users have left; the rest end as soon as the copy is complete.
[[noreturn]] void keep_stage(const KeeperOrder& order) noexcept;

}  // namespace hpcboot::run
