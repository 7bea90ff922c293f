#include "record/html_table.hpp"

#include <cstring>

#include "record/runtime_columns.hpp"
#include "text/html_format.hpp"

namespace hpcboot::record {
namespace {

Encoded title_cell(const RuntimeColumn& column) {
  if (column.is_number)
    return html_format("<th scope=\"col\" class=\"number\">{}</th>", column.title);
  return html_format("<th scope=\"col\">{}</th>", column.title);
}

Encoded value_cell(const RuntimeColumn& column, const RuntimeRow& row, const std::string& target) {
  const std::string text = cell_text(column, row);
  if (column.is_number) {
    const Json value = column.value(row);
    if (value.is_null()) return html_format("<td class=\"number\">{}</td>", text);
    return html_format("<td class=\"number\" data-value=\"{}\">{}</td>", value.dump(), text);
  }
  if (target.empty()) return html_format("<td>{}</td>", text);
  return html_format("<td><a href=\"#{}\">{}</a></td>", target, text);
}

}  // namespace

Encoded html_table(const std::vector<RuntimeRow>& rows,
                   const std::function<std::string(const RuntimeRow& row)>& target) {
  const std::vector<RuntimeColumn> columns = shown_columns();
  Encoded text = "<table>\n<thead>\n<tr>";
  for (const RuntimeColumn& column : columns) text += title_cell(column);
  text += "</tr>\n</thead>\n<tbody>\n";
  for (const RuntimeRow& row : rows) {
    text += "<tr>";
    for (const RuntimeColumn& column : columns) {
      const bool is_name = std::strcmp(column.key, "run") == 0;
      text += value_cell(column, row, is_name && target ? target(row) : "");
    }
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table>\n";
}

}  // namespace hpcboot::record
