#include "profile/trace_file.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "json/bounded_json.hpp"

namespace hpcboot::profile {

TraceFile::TraceFile(const std::filesystem::path& path, const std::optional<TraceOrigin>& origin,
                     std::int64_t base)
    : file_(path) {
  std::string start =
      "{\"schemaVersion\": 1, \"deviceProperties\": [], \"displayTimeUnit\": \"ms\",\n";
  if (origin) {
    start += fmt::format(
        "\"distributedInfo\": {{\"backend\": {}, \"rank\": {}, \"world_size\": {}}},\n"
        "\"clockAheadNanoseconds\": {},\n",
        json_text(Json(origin->backend)).str(), origin->rank, origin->world_size,
        origin->clock_ahead);
  }
  start += fmt::format("\"baseTimeNanoseconds\": {},\n\"traceEvents\": [\n", base);
  file_.write(start.data(), start.size());
}

void TraceFile::add(std::string_view events) {
  if (events.empty()) return;
  if (!std::exchange(is_empty_, false)) file_.write(",\n", 2);
  file_.write(events.data(), events.size());
}

void TraceFile::commit(std::int64_t dropped) {
  const std::string end = fmt::format("\n],\n\"droppedEvents\": {}}}\n", dropped);
  file_.write(end.data(), end.size());
  file_.commit();
}

}  // namespace hpcboot::profile
