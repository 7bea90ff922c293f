#pragma once

#include <string>

namespace hpcboot::run {

struct KeeperOrder {
  std::string source;
  std::string folder;  // of the stage
  int report = -1;     // where a Stage reads how it went
};

// The first byte of what is reported. An Error as its payload is follows, or the note, a byte 0,
// which no path has, and the path of the copy.
inline constexpr char kReportError = 'E';
inline constexpr char kReportStaged = 'S';
inline constexpr char kReportBehindNote = '\0';

// What the process beside a Stage does. Of several on a host the first copies and stays until all
// others have left; the rest end as soon as the copy is there.
[[noreturn]] void keep_stage(const KeeperOrder& order) noexcept;

}  // namespace hpcboot::run
