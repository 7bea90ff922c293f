#include "record/table_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "text/table.hpp"
#include "text/wrap.hpp"

namespace hpcboot::record {
namespace {

constexpr std::pair<std::string_view, TableFormat> kFormats[] = {{"table", TableFormat::table},
                                                                 {"md", TableFormat::md},
                                                                 {"csv", TableFormat::csv},
                                                                 {"json", TableFormat::json},
                                                                 {"html", TableFormat::html}};

template <typename T>
Json raw(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

std::string text_or_dash(const std::string& text) {
  return text.empty() ? "–" : text;
}

std::string rounded(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "–";
}

std::string percent(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.0f}%", *ratio * 100.0) : "–";
}

/// "12.3 s" below a minute, else "0:02:05", "1:02:03".
std::string duration(const std::optional<double>& seconds) {
  if (!seconds) return "–";
  if (*seconds < 59.95) return fmt::format("{:.1f} s", *seconds);
  const long whole = std::lround(*seconds);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

/// A column: its key in csv and json, its title in the other formats, and a row's value for both.
struct Column {
  const char* key;
  const char* title;  ///< null if it is shown only as marks in another column
  bool is_number;     ///< aligned to the right
  bool is_setting;    ///< stated once if it is equal in all runs and the terminal is narrow
  Json (*value)(const RuntimeRow&);
  std::string (*shown)(const RuntimeRow&);
  /// Precedes the values of some rows, so that the digits stay aligned.
  const char* mark = nullptr;
  bool (*is_marked)(const RuntimeRow&) = nullptr;
  const char* footnote = nullptr;
};

using Row = const RuntimeRow&;

// The name of the run comes last because it is long, and people compare the figures.
constexpr std::array<Column, 13> kColumns{{
    {"nodes", "Nodes", true, true, [](Row row) { return Json(row.nodes); },
     [](Row row) { return std::to_string(row.nodes); }},
    {"devices_per_node", "Devices/node", true, true,
     [](Row row) { return Json(row.devices_per_node); },
     [](Row row) { return std::to_string(row.devices_per_node); }},
    {"method", "Method", false, true, [](Row row) { return Json(row.method); },
     [](Row row) { return text_or_dash(row.method); }},
    {"model", "Model", false, true, [](Row row) { return Json(row.model); },
     [](Row row) { return text_or_dash(row.model); }},
    {"launcher", "Launcher", false, true, [](Row row) { return Json(row.launcher); },
     [](Row row) { return text_or_dash(row.launcher); }},
    {"site", "Site", false, true, [](Row row) { return raw(row.site); },
     [](Row row) { return text_or_dash(row.site.value_or("")); }},
    {"epochs", "Epochs", true, true, [](Row row) { return raw(row.epochs); },
     [](Row row) { return row.epochs ? std::to_string(*row.epochs) : "–"; }},
    {"runtime_seconds", "Runtime", true, false, [](Row row) { return raw(row.runtime_seconds); },
     [](Row row) { return duration(row.runtime_seconds); }, "*",
     [](Row row) { return !row.busy_hosts.empty(); },
     "Other programs kept hosts of the run busy; its run.json says which (hosts[].busy)."},
    {"images_per_second", "Images/s", true, false,
     [](Row row) { return raw(row.images_per_second); },
     [](Row row) { return rounded(row.images_per_second, 1); }},
    {"speedup", "Speed-up", true, false, [](Row row) { return raw(row.speedup); },
     [](Row row) { return rounded(row.speedup, 2); }},
    {"efficiency", "Efficiency", true, false, [](Row row) { return raw(row.efficiency); },
     [](Row row) { return percent(row.efficiency); }, "†",
     [](Row row) { return row.is_superlinear(); },
     "Above 100% by more than noise (5%) explains: the single-device run was slower than it should "
     "be, for example on a busy host."},
    {"run", "Run", false, false, [](Row row) { return Json(row.run); },
     [](Row row) { return text_or_dash(row.run); }},
    {"busy_hosts", nullptr, false, false, [](Row row) { return Json(row.busy_hosts); }, nullptr},
}};

/// The columns of the formats for people.
std::vector<Column> shown_columns() {
  std::vector<Column> columns(kColumns.begin(), kColumns.end());
  columns.erase(std::remove_if(columns.begin(), columns.end(),
                               [](const Column& column) { return column.title == nullptr; }),
                columns.end());
  return columns;
}

std::string cell(const Column& column, Row row) {
  const bool is_marked = column.mark != nullptr && column.is_marked(row);
  return (is_marked ? column.mark : "") + column.shown(row);
}

/// One line for each mark that any row has.
std::vector<std::string> footnotes(const std::vector<RuntimeRow>& rows) {
  std::vector<std::string> lines;
  for (const Column& column : kColumns) {
    if (column.mark != nullptr && std::any_of(rows.begin(), rows.end(), column.is_marked))
      lines.push_back(fmt::format("{} {}", column.mark, column.footnote));
  }
  return lines;
}

TextTable table_of(const std::vector<RuntimeRow>& rows, const std::vector<Column>& columns) {
  std::vector<Align> alignment;
  std::vector<std::string> titles;
  for (const Column& column : columns) {
    alignment.push_back(column.is_number ? Align::right : Align::left);
    titles.emplace_back(column.title);
  }
  TextTable table(std::move(alignment));
  table.add_titles(titles);
  for (const RuntimeRow& row : rows) {
    std::vector<std::string> cells;
    for (const Column& column : columns) cells.push_back(cell(column, row));
    table.add(cells);
  }
  return table;
}

/// Removes the settings that are equal in all rows, and returns them as a line:
/// "All runs: model mnistnet, site cc".
std::string take_out_equal(const std::vector<RuntimeRow>& rows, std::vector<Column>& columns) {
  std::vector<std::string> equal;
  const auto is_equal = [&](const Column& column) {
    if (!column.is_setting || rows.size() < 2) return false;
    const std::string value = column.shown(rows.front());
    if (!std::all_of(rows.begin(), rows.end(), [&](Row row) { return column.shown(row) == value; }))
      return false;
    std::string title = column.title;
    title[0] = static_cast<char>(title[0] - 'A' + 'a');
    if (value != "–") equal.push_back(title + " " + value);
    return true;
  };
  columns.erase(std::remove_if(columns.begin(), columns.end(), is_equal), columns.end());
  return equal.empty() ? "" : fmt::format("All runs: {}", fmt::join(equal, ", "));
}

std::string as_table(const std::vector<RuntimeRow>& rows, const Look& look) {
  std::vector<Column> columns = shown_columns();
  TextTable table = table_of(rows, columns);
  std::string text;
  if (table.width() > look.width) {
    const std::string all = take_out_equal(rows, columns);
    if (!all.empty()) text = terminal_text(all).str() + "\n\n";
    table = table_of(rows, columns);
  }
  text += table.text(look).str();
  for (const std::string& note : footnotes(rows)) {
    for (const std::string& line : wrapped(note, look.width)) text += line + "\n";
  }
  return text;
}

std::string as_markdown(const std::vector<RuntimeRow>& rows) {
  const std::vector<Column> columns = shown_columns();
  std::string titles = "|";
  std::string rule = "|";
  for (const Column& column : columns) {
    titles += fmt::format(" {} |", column.title);
    rule += column.is_number ? "---:|" : "---|";
  }
  std::string text = titles + "\n" + rule + "\n";
  for (const RuntimeRow& row : rows) {
    text += "|";
    for (const Column& column : columns) text += " " + markdown_text(cell(column, row)) + " |";
    text += "\n";
  }
  for (const std::string& line : footnotes(rows)) text += "\n" + markdown_text(line) + "\n";
  return text;
}

std::string csv_value(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_array()) {
    std::string words;
    for (const Json& word : value) words += (words.empty() ? "" : " ") + word.get<std::string>();
    return csv_field(words);
  }
  return value.is_string() ? csv_field(value.get<std::string>()) : value.dump();
}

std::string as_csv(const std::vector<RuntimeRow>& rows) {
  std::string text;
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    text += (c == 0 ? "" : ",") + std::string(kColumns[c].key);
  }
  text += "\n";
  for (const RuntimeRow& row : rows) {
    for (std::size_t c = 0; c < kColumns.size(); ++c) {
      text += (c == 0 ? "" : ",") + csv_value(kColumns[c].value(row));
    }
    text += "\n";
  }
  return text;
}

std::string as_json(const std::vector<RuntimeRow>& rows) {
  Json list = Json::array();
  for (const RuntimeRow& row : rows) {
    Json object = Json::object();
    for (const Column& column : kColumns) object[column.key] = column.value(row);
    list.push_back(std::move(object));
  }
  return json_text(list, 2).str() + "\n";
}

std::string html_line(std::string_view tag, const Column& column, const std::string& text) {
  return fmt::format("<{}{}>{}</{}>", tag, column.is_number ? " class=\"number\"" : "",
                     html_text(text), tag);
}

std::string as_html(const std::vector<RuntimeRow>& rows) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>Runtime table</title>\n<style>\n"
      "body { font-family: sans-serif; }\ntable { border-collapse: collapse; }\n"
      "th, td { padding: 0.3em 0.8em; border-bottom: 1px solid #ccc; text-align: left; }\n"
      ".number { text-align: right; font-variant-numeric: tabular-nums; }\n"
      "</style>\n</head>\n<body>\n<table>\n<thead>\n<tr>";
  const std::vector<Column> columns = shown_columns();
  for (const Column& column : columns) text += html_line("th", column, column.title);
  text += "</tr>\n</thead>\n<tbody>\n";
  for (const RuntimeRow& row : rows) {
    text += "<tr>";
    for (const Column& column : columns) text += html_line("td", column, cell(column, row));
    text += "</tr>\n";
  }
  text += "</tbody>\n</table>\n";
  for (const std::string& line : footnotes(rows)) text += "<p>" + html_text(line) + "</p>\n";
  return text + "</body>\n</html>\n";
}

}  // namespace

std::optional<TableFormat> table_format(std::string_view name) {
  for (const auto& [known, format] : kFormats) {
    if (known == name) return format;
  }
  return std::nullopt;
}

std::vector<std::string> table_formats() {
  std::vector<std::string> names;
  for (const auto& [name, format] : kFormats) names.emplace_back(name);
  return names;
}

Encoded format_rows(const std::vector<RuntimeRow>& rows, TableFormat format, const Look& look) {
  switch (format) {
    case TableFormat::table:
      return Encoded::as_is(as_table(rows, look));
    case TableFormat::md:
      return Encoded::as_is(as_markdown(rows));
    case TableFormat::csv:
      return Encoded::as_is(as_csv(rows));
    case TableFormat::json:
      return Encoded::as_is(as_json(rows));
    case TableFormat::html:
      return Encoded::as_is(as_html(rows));
  }
  return "";
}

}  // namespace hpcboot::record
