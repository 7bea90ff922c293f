#include "profile/trace_lines.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "hpcboot/error.hpp"
#include "json/json_reader.hpp"

namespace hpcboot::profile {
namespace {

constexpr const char* kSource = "a rank's trace";
constexpr std::string_view kEventsBegin = "\"traceEvents\": [";
constexpr std::string_view kEventsEnd = "],";
// Three years, and an epoch time of the next century, in nanoseconds: sums do not overflow.
constexpr std::int64_t kLongest = 100'000'000'000'000'000;
constexpr std::int64_t kLatest = 4'000'000'000'000'000'000;
constexpr std::size_t kPending = std::size_t{1} << 20U;  // written in pieces of this size

Json parsed(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const JsonError& error) {
    throw Error(ErrorCode::malformed_file, std::string(kSource) + " " + error.what(),
                "a trace as --profile writes it", "profile the run again");
  }
}

}  // namespace

double microseconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

std::int64_t nanoseconds_of(const Json& event) {
  const JsonReader reader(kSource, event);
  const double most = static_cast<double>(kLongest) / 1000;
  return std::llround(1000 * reader.require("ts", reader.number("ts", -most, most), "a time"));
}

TraceLines::TraceLines(const std::filesystem::path& path, const TraceHeader& header,
                       std::int64_t most_bytes)
    : file_(path), base_(header.base), most_bytes_(most_bytes) {
  // TensorBoard's plugin shows the view of distributed training if the second one is there.
  write("{\"schemaVersion\": 1, \"deviceProperties\": [], \"displayTimeUnit\": \"ms\",\n");
  const Json ranks = {
      {"backend", header.backend}, {"rank", header.rank}, {"world_size", header.world_size}};
  write("\"distributedInfo\": " + json_text(ranks).str() + ",\n");
  write(fmt::format("\"baseTimeNanoseconds\": {}, \"clockAheadNanoseconds\": {},\n", header.base,
                    header.clock_ahead));
  write(std::string(kEventsBegin) + "\n");
}

void TraceLines::write(std::string_view text) {
  bytes_ += static_cast<std::int64_t>(text.size());
  pending_ += text;
  if (pending_.size() < kPending) return;
  file_.write(pending_.data(), pending_.size());
  pending_.clear();
}

void TraceLines::add(const Json& event) {
  if (!std::exchange(is_first_, false)) write(",\n");
  write(json_text(event).str());
}

void TraceLines::add_event(Json event, std::int64_t time) {
  event["ts"] = microseconds(time - base_);
  const std::string text = json_text(event).str();
  if (bytes_ + static_cast<std::int64_t>(text.size()) > most_bytes_) {
    most_bytes_ = 0;  // a shorter event that follows would look as if nothing had come before it
    ++size_.dropped;
    return;
  }
  ++size_.events;
  if (!std::exchange(is_first_, false)) write(",\n");
  write(text);
}

TraceSize TraceLines::commit() {
  write(fmt::format("\n],\n\"droppedEvents\": {}}}\n", size_.dropped));
  file_.write(pending_.data(), pending_.size());
  file_.commit();
  return size_;
}

TraceText::TraceText(std::string_view text) : rest_(text) {
  std::string header;
  for (std::string_view one = line(); one != kEventsBegin; one = line()) {
    if (rest_.empty()) break;
    header += one;
  }
  const Json json = parsed(header + std::string(kEventsBegin) + "]}");
  const JsonReader reader(kSource, json);
  header_.base = reader.require("baseTimeNanoseconds",
                                reader.integer("baseTimeNanoseconds", 0, kLatest), "a time");
  header_.clock_ahead = reader.integer("clockAheadNanoseconds", -kLongest, kLongest).value_or(0);
  const auto ranks = reader.object("distributedInfo");
  if (!ranks) reader.fail("distributedInfo", "the rank");
  header_.rank = ranks->small_integer("rank").value_or(0);
  header_.world_size = ranks->small_integer("world_size").value_or(1);
  header_.backend = ranks->text("backend").value_or("");
}

std::string_view TraceText::line() {
  const std::string_view one = rest_.substr(0, rest_.find('\n'));
  rest_.remove_prefix(std::min(rest_.size(), one.size() + 1));
  return one;
}

/// Whether this line follows the last event; if so, reads what stands after it.
bool TraceText::ends(std::string_view one) {
  if (one.empty()) one = line();  // a trace without events has an empty line
  if (one != kEventsEnd && !rest_.empty()) return false;
  const Json json = parsed("{" + std::string(line()));
  dropped_ = JsonReader(kSource, json).integer("droppedEvents").value_or(0);
  return true;
}

std::optional<Json> TraceText::next() {
  std::string_view one = line();
  if (ends(one)) return std::nullopt;
  if (!one.empty() && one.back() == ',') one.remove_suffix(1);
  return parsed(one);
}

std::int64_t TraceText::skip() {
  std::int64_t events = 0;
  for (std::string_view one = line(); !ends(one); one = line()) {
    if (one.find("\"ph\":\"M\"") == std::string_view::npos) ++events;
  }
  return events;
}

}  // namespace hpcboot::profile
