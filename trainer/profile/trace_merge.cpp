#include "profile/trace_merge.hpp"

#include <utility>

namespace hpcboot::profile {

TraceMerge::TraceMerge(const std::filesystem::path& path, const TraceHeader& header, int ranks,
                       std::int64_t most_bytes)
    : lines_(path, header, most_bytes), ranks_(ranks), most_bytes_(most_bytes) {}

void TraceMerge::add(std::string_view trace) {
  lines_.set_limit(most_bytes_ / ranks_ * ++added_);
  TraceText text(trace);
  const std::int64_t begin = text.header().base - text.header().clock_ahead;
  while (!lines_.is_full()) {
    auto event = text.next();
    if (!event) break;
    if (event->is_object() && event->value("ph", Json()) == "M") {
      lines_.add(*event);
      continue;
    }
    const std::int64_t since = nanoseconds_of(*event);
    lines_.add_event(std::move(*event), begin + since);
  }
  if (lines_.is_full()) lines_.count_dropped(text.skip());
  lines_.count_dropped(text.dropped());
}

}  // namespace hpcboot::profile
