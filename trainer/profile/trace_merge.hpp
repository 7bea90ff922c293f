#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "profile/trace_lines.hpp"

namespace hpcboot::profile {

/// Joins the traces of several ranks in one file, with times by rank 0's clock.
class TraceMerge {
 public:
  /// @param header of the merged file; its base must not be later than any event
  /// @param ranks how many traces will be added
  /// @param most_bytes about the largest size of the file; each rank has an equal share, and what
  ///        earlier ones have left
  /// @throws Error{unwritable_output}
  TraceMerge(const std::filesystem::path& path, const TraceHeader& header, int ranks,
             std::int64_t most_bytes);

  /// @param trace the text of a file by write_trace()
  /// @throws Error{malformed_file, unwritable_output}
  void add(std::string_view trace);

  /// @throws Error{unwritable_output}
  TraceSize commit() { return lines_.commit(); }

 private:
  TraceLines lines_;
  int ranks_;
  int added_ = 0;
  std::int64_t most_bytes_;
};

}  // namespace hpcboot::profile
