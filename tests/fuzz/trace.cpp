#include "profile/trace_lines.hpp"

#include "fuzz.hpp"

// A rank's trace, from bytes, as it is merged: events with times that can be added, or an Error.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  const std::string text(fuzz::text_of(data, size));
  fuzz::allow_error([&] {
    profile::TraceText trace(text);
    const std::int64_t begin = trace.header().base - trace.header().clock_ahead;
    while (const auto event = trace.next()) {
      if (event->is_object() && event->value("ph", Json()) == "M") continue;
      const std::int64_t time = begin + profile::nanoseconds_of(*event);
      fuzz::require(profile::microseconds(time - begin) < 1e15, "times are bounded");
    }
  });
  fuzz::allow_error([&] {
    profile::TraceText trace(text);
    fuzz::require(trace.skip() <= static_cast<std::int64_t>(size), "events are lines");
  });
  return 0;
}
