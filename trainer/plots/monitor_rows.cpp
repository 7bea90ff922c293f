#include "plots/monitor_rows.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <string_view>
#include <type_traits>

#include "hpcboot/error.hpp"
#include "plots/plots.hpp"
#include "record/run_folder.hpp"

namespace hpcboot::plots {
namespace {

using monitor::MonitorRow;

constexpr std::size_t kLongestLine = 1 << 16;

/// The fields of a line (RFC 4180). Ours have no line breaks within quotes: csv_field() makes them
/// visible.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char one = line[i];
    if (is_quoted) {
      if (one != '"') {
        fields.back() += one;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else {
        is_quoted = false;
      }
    } else if (one == '"') {
      is_quoted = true;
    } else if (one == ',') {
      fields.emplace_back();
    } else {
      fields.back() += one;
    }
  }
  return fields;
}

/// Nothing if the text is no number, or one that is not finite.
template <typename Number>
std::optional<Number> number_of(const std::string& text) {
  Number value = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed_to, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || parsed_to != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

class Columns {
 public:
  explicit Columns(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) places_.emplace(names[i], i);
  }

  bool has(const std::string& name) const { return places_.count(name) != 0; }
  std::string text(const std::vector<std::string>& fields, const std::string& name) const {
    const auto place = places_.find(name);
    return place == places_.end() || place->second >= fields.size() ? "" : fields[place->second];
  }
  template <typename Number>
  Number number(const std::vector<std::string>& fields, const std::string& name) const {
    return number_of<Number>(text(fields, name)).value_or(0);
  }

 private:
  std::map<std::string, std::size_t> places_;
};

MonitorRow row_of(const Columns& columns, const std::vector<std::string>& fields) {
  MonitorRow row;
  row.seconds = columns.number<double>(fields, "seconds");
  row.epoch = columns.number<int>(fields, "epoch");
  row.epoch_seconds = columns.number<double>(fields, "epoch_seconds");
  row.step = columns.number<std::int64_t>(fields, "step");
  row.rank = columns.number<int>(fields, "rank");
  row.host = columns.text(fields, "host");
  row.device = columns.text(fields, "device");
  for (const monitor::MonitorColumn& column : monitor::kMonitorColumns)
    row.*column.value = number_of<double>(columns.text(fields, std::string(column.name)));
  return row;
}

}  // namespace

std::vector<MonitorRow> read_monitor(std::istream& in, const std::string& name) {
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = fields_of(line);
  const Columns columns(names);
  for (const char* needed : {"seconds", "rank", "host"}) {
    if (columns.has(needed)) continue;
    throw Error(ErrorCode::malformed_file, "'" + name + "' has no column '" + needed + "'",
                "the monitor.csv of a run", "name the run folder that the trainer wrote");
  }
  std::vector<MonitorRow> rows;
  while (std::getline(in, line)) {
    if (line.size() > kLongestLine) continue;
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() == names.size()) rows.push_back(row_of(columns, fields));
  }
  return rows;
}

std::vector<MonitorRow> read_monitor(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::error_code ignored;
  if (!in || !std::filesystem::is_regular_file(file, ignored)) {
    throw Error(ErrorCode::unreadable_file, "'" + file.string() + "' cannot be read",
                "the monitor.csv of a run", "train with --monitor SECONDS");
  }
  return read_monitor(in, file.string());
}

const RunData& only_run(const std::vector<RunData>& runs) {
  if (runs.size() == 1) return runs.front();
  throw NothingToPlot(std::to_string(runs.size()) + " runs are given; name one run folder");
}

std::vector<MonitorRow> rows_of(const RunData& run) {
  return read_monitor(record::RunFolder(run.folder).monitor_csv());
}

}  // namespace hpcboot::plots
