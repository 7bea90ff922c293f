#include "record/table_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "record/html_table.hpp"
#include "record/runtime_columns.hpp"
#include "text/table.hpp"
#include "text/wrap.hpp"

namespace hpcboot::record {
namespace {

constexpr std::pair<std::string_view, TableFormat> kFormats[] = {{"table", TableFormat::table},
                                                                 {"md", TableFormat::md},
                                                                 {"csv", TableFormat::csv},
                                                                 {"json", TableFormat::json},
                                                                 {"html", TableFormat::html}};

using Row = const RuntimeRow&;

TextTable table_of(const std::vector<RuntimeRow>& rows, const std::vector<RuntimeColumn>& columns) {
  std::vector<Align> alignment;
  std::vector<std::string> titles;
  for (const RuntimeColumn& column : columns) {
    alignment.push_back(column.is_number ? Align::right : Align::left);
    titles.emplace_back(column.title);
  }
  TextTable table(std::move(alignment));
  table.add_titles(titles);
  for (const RuntimeRow& row : rows) {
    std::vector<std::string> cells;
    for (const RuntimeColumn& column : columns) cells.push_back(cell_text(column, row));
    table.add(cells);
  }
  return table;
}

/// Removes the settings that are equal in all rows, and returns them as a line:
/// "All runs: model mnistnet, site cc".
std::string take_out_equal(const std::vector<RuntimeRow>& rows,
                           std::vector<RuntimeColumn>& columns) {
  std::vector<std::string> equal;
  const auto is_equal = [&](const RuntimeColumn& column) {
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
  std::vector<RuntimeColumn> columns = shown_columns(rows);
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
  const std::vector<RuntimeColumn> columns = shown_columns(rows);
  std::string titles = "|";
  std::string rule = "|";
  for (const RuntimeColumn& column : columns) {
    titles += fmt::format(" {} |", column.title);
    rule += column.is_number ? "---:|" : "---|";
  }
  std::string text = titles + "\n" + rule + "\n";
  for (const RuntimeRow& row : rows) {
    text += "|";
    for (const RuntimeColumn& column : columns)
      text += " " + markdown_text(cell_text(column, row)) + " |";
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
  const auto line = [](const auto& value_of) {
    std::string text;
    for (const RuntimeColumn& column : runtime_columns())
      text += (text.empty() ? "" : ",") + value_of(column);
    return text + "\n";
  };
  std::string text = line([](const RuntimeColumn& column) { return std::string(column.key); });
  for (const RuntimeRow& row : rows)
    text += line([&](const RuntimeColumn& column) { return csv_value(column.value(row)); });
  return text;
}

std::string as_json(const std::vector<RuntimeRow>& rows) {
  Json list = Json::array();
  for (const RuntimeRow& row : rows) {
    Json object = Json::object();
    for (const RuntimeColumn& column : runtime_columns()) object[column.key] = column.value(row);
    list.push_back(std::move(object));
  }
  return json_text(list, 2).str() + "\n";
}

std::string as_html(const std::vector<RuntimeRow>& rows) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>Runtime table</title>\n<style>\n"
      "body { font-family: sans-serif; }\ntable { border-collapse: collapse; }\n"
      "th, td { padding: 0.3em 0.8em; border-bottom: 1px solid #ccc; text-align: left; }\n"
      ".number { text-align: right; font-variant-numeric: tabular-nums; }\n"
      "</style>\n</head>\n<body>\n" +
      html_table(rows).str();
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
