#include "profile/rank_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "json/json_reader.hpp"
#include "text/format.hpp"

namespace hpcboot::profile {
namespace {

constexpr std::size_t kMostRows = 16;

std::string share(std::int64_t part, const TimeSummary& of) {
  if (of.total == 0) return "–";
  return fmt::format("{:.1f}", 100 * static_cast<double>(part) / static_cast<double>(of.total));
}

/// Of the compute part: ranks that wait for the slowest one take equally long.
double compute_of_step(const RankSummary& rank) {
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, rank.time.steps));
  return static_cast<double>(rank.time.compute) / steps;
}

}  // namespace

Json to_json(const RankSummary& summary) {
  return {{"host", summary.host},
          {"begin", summary.begin},
          {"time", to_json(summary.time)},
          {"events", summary.size.events},
          {"dropped", summary.size.dropped}};
}

RankSummary rank_summary_from_json(const Json& json, const std::string& from) {
  const JsonReader reader(from, json);
  RankSummary summary;
  summary.host = reader.text("host").value_or("");
  summary.begin = reader.integer("begin").value_or(0);
  summary.size.events = reader.integer("events").value_or(0);
  summary.size.dropped = reader.integer("dropped").value_or(0);
  if (const auto time = reader.object("time"))
    summary.time = time_summary_from_json(time->json(), from);
  return summary;
}

Encoded rank_summary_table(const std::vector<RankSummary>& ranks, const Look& look) {
  std::vector<std::size_t> shown(ranks.size());
  std::iota(shown.begin(), shown.end(), 0);
  if (shown.size() > kMostRows) {
    std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
      return compute_of_step(ranks[a]) > compute_of_step(ranks[b]);
    });
    shown.resize(kMostRows);
  }
  TextTable table({Align::right, Align::left, Align::right, Align::right, Align::right,
                   Align::right, Align::right, Align::right});
  table.add_titles({"rank", "host", "steps", "step ms", "compute %", "exposed communication %",
                    "data %", "idle %"});
  for (const std::size_t rank : shown) {
    const TimeSummary& time = ranks[rank].time;
    const double step = static_cast<double>(time.total) /
                        static_cast<double>(std::max<std::int64_t>(1, time.steps)) / 1e6;
    table.add({fmt::format("{}", rank), ranks[rank].host, fmt::format("{}", time.steps),
               fmt::format("{:.2f}", step), share(time.compute, time),
               share(time.communication, time), share(time.data, time), share(time.idle, time)});
  }
  Encoded text = table.text(look);
  if (shown.size() < ranks.size()) {
    text +=
        encoded_format("(the {} of {} ranks that compute longest)\n", shown.size(), ranks.size());
  }
  return text;
}

std::string rank_summary_csv(const std::vector<RankSummary>& ranks) {
  std::string text =
      "rank,host,steps,total_seconds,compute_seconds,exposed_communication_seconds,data_seconds,"
      "idle_seconds,events,dropped_events\n";
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankSummary& one = ranks[rank];
    const auto seconds = [](std::int64_t time) { return static_cast<double>(time) / 1e9; };
    text += fmt::format("{},{},{},{:.9f},{:.9f},{:.9f},{:.9f},{:.9f},{},{}\n", rank,
                        csv_field(one.host), one.time.steps, seconds(one.time.total),
                        seconds(one.time.compute), seconds(one.time.communication),
                        seconds(one.time.data), seconds(one.time.idle), one.size.events,
                        one.size.dropped);
  }
  return text;
}

}  // namespace hpcboot::profile
