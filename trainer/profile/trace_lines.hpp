#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "json/bounded_json.hpp"
#include "profile/trace_file.hpp"
#include "record/atomic_file.hpp"

namespace hpcboot::profile {

/// Threads of the trace from here on are those of the batch loader.
constexpr std::int64_t kLoaderLanes = 1'000'000;

/// What precedes the events of a trace.
struct TraceHeader {
  int rank = 0;
  int world_size = 1;
  std::string backend;
  std::int64_t base = 0;         ///< nanoseconds since the epoch: time 0 of the events
  std::int64_t clock_ahead = 0;  ///< nanoseconds; see TraceOrigin
};

/// Times in a trace are microseconds with three decimals.
double microseconds(std::int64_t nanoseconds);
/// That of an event. @throws Error{malformed_file}
std::int64_t nanoseconds_of(const Json& event);

/// Writes a trace, an event per line.
class TraceLines {
 public:
  /// @param most_bytes events beyond it are dropped; metadata are not
  TraceLines(const std::filesystem::path& path, const TraceHeader& header, std::int64_t most_bytes);

  /// Metadata.
  void add(const Json& event);
  /// @param time nanoseconds since the epoch
  void add_event(Json event, std::int64_t time);
  void set_limit(std::int64_t most_bytes) { most_bytes_ = most_bytes; }
  /// Whether an event was dropped; then all later ones will be.
  bool is_full() const { return most_bytes_ == 0; }
  /// Of a trace that this one is made from.
  void count_dropped(std::int64_t events) { size_.dropped += events; }
  TraceSize commit();

 private:
  void write(std::string_view text);

  record::AtomicFile file_;
  std::int64_t base_;
  std::int64_t most_bytes_;
  std::int64_t bytes_ = 0;
  bool is_first_ = true;
  TraceSize size_;
  std::string pending_;
};

/// Reads what TraceLines wrote, event by event.
class TraceText {
 public:
  /// @param text must outlive this object. @throws Error{malformed_file}
  explicit TraceText(std::string_view text);

  const TraceHeader& header() const { return header_; }
  /// The next event; nothing after the last. @throws Error{malformed_file}
  std::optional<Json> next();
  /// Passes over the rest. @return the number of its events
  std::int64_t skip();
  /// Events that were dropped when it was written. After the last event.
  std::int64_t dropped() const { return dropped_; }

 private:
  std::string_view line();
  bool ends(std::string_view line);

  std::string_view rest_;
  TraceHeader header_;
  std::int64_t dropped_ = 0;
};

}  // namespace hpcboot::profile
