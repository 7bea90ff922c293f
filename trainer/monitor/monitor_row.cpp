#include "monitor/monitor_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "hpcboot/encode.hpp"
#include "json/json_reader.hpp"
#include "record/json_values.hpp"

namespace hpcboot::monitor {
namespace {

std::string field(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{:.9g}", *value) : "";
}

}  // namespace

std::string monitor_header() {
  std::string text = "seconds,epoch,epoch_seconds,step,rank,host,device";
  for (const MonitorColumn& column : kMonitorColumns) {
    text += ',';
    text += column.name;
  }
  return text + "\n";
}

std::string monitor_line(const MonitorRow& row) {
  std::string text =
      fmt::format("{:.3f},{},{:.3f},{},{},{},{}", row.seconds, row.epoch, row.epoch_seconds,
                  row.step, row.rank, csv_field(row.host), csv_field(row.device));
  for (const MonitorColumn& column : kMonitorColumns) text += "," + field(row.*column.value);
  return text + "\n";
}

std::int64_t step_of_line(std::string_view line) {
  constexpr int kBefore = 3;  // columns, which are numbers
  for (int column = 0; column < kBefore; ++column)
    line.remove_prefix(std::min(line.size(), line.find(',') + 1));
  std::int64_t step = 0;
  const char* const end = line.data() + line.size();
  const auto [parsed_to, error] = std::from_chars(line.data(), end, step);
  const bool is_number = error == std::errc() && parsed_to != end && *parsed_to == ',';
  return is_number ? step : std::numeric_limits<std::int64_t>::max();
}

Json to_json(const MonitorRow& row) {
  Json json = {{"seconds", row.seconds}, {"epoch", row.epoch}, {"epoch_seconds", row.epoch_seconds},
               {"step", row.step},       {"rank", row.rank},   {"host", row.host},
               {"device", row.device}};
  for (const MonitorColumn& column : kMonitorColumns)
    json[std::string(column.name)] = record::json_of(row.*column.value);
  return json;
}

MonitorRow monitor_row_from_json(const Json& json, const std::string& from) {
  const JsonReader reader(from, json);
  MonitorRow row;
  row.seconds = reader.number("seconds").value_or(0);
  row.epoch = reader.small_integer("epoch").value_or(0);
  row.epoch_seconds = reader.number("epoch_seconds").value_or(0);
  row.step = reader.integer("step").value_or(0);
  row.rank = reader.small_integer("rank").value_or(0);
  row.host = reader.text("host").value_or("");
  row.device = reader.text("device").value_or("");
  for (const MonitorColumn& column : kMonitorColumns)
    row.*column.value = reader.number(std::string(column.name).c_str());
  return row;
}

}  // namespace hpcboot::monitor
