#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "profile/trace_events.hpp"
#include "record/atomic_file.hpp"

namespace hpcboot::profile {

/// A trace of one rank or several, which Perfetto, chrome://tracing and TensorBoard read. The file
/// appears complete, or not at all.
class TraceFile {
 public:
  /// @param origin whose trace it is; none for that of several ranks, which TensorBoard's view of
  ///        distributed training must not count as one more
  /// @param base as for trace_events()
  /// @throws Error{unwritable_output}
  TraceFile(const std::filesystem::path& path, const std::optional<TraceOrigin>& origin,
            std::int64_t base);

  /// @param events of trace_events(), of one rank. @throws Error{unwritable_output}
  void add(std::string_view events);

  /// @param dropped events that are not in the file. @throws Error{unwritable_output}
  void commit(std::int64_t dropped);

 private:
  record::AtomicFile file_;
  bool is_empty_ = true;
};

}  // namespace hpcboot::profile
