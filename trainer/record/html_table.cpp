#include "record/html_table.hpp"

#include <cstring>

#include "record/runtime_columns.hpp"
#include "text/html_format.hpp"
#include "text/html_table.hpp"

namespace hpcboot::record {
namespace {

HtmlTable::Cell cell_of(const RuntimeColumn& column, const RuntimeRow& row) {
  if (!column.is_number) return cell_text(column, row);
  const Json value = column.value(row);
  return {cell_text(column, row), value.is_null() ? "" : value.dump()};
}

}  // namespace

Encoded html_table(const std::vector<RuntimeRow>& rows,
                   const std::function<std::string(const RuntimeRow& row)>& target) {
  std::vector<HtmlTable::Column> titles;
  const std::vector<RuntimeColumn> columns = shown_columns(rows);
  for (const RuntimeColumn& column : columns) titles.push_back({column.title, column.is_number});
  HtmlTable table(titles);
  for (const RuntimeRow& row : rows) {
    std::vector<HtmlTable::Cell> cells;
    for (const RuntimeColumn& column : columns) {
      const bool is_name = std::strcmp(column.key, "run") == 0;
      const std::string id = is_name && target ? target(row) : "";
      cells.push_back(id.empty() ? cell_of(column, row)
                                 : html_format("<a href=\"#{}\">{}</a>", id, row.run));
    }
    table.add(cells);
  }
  return table.html();
}

}  // namespace hpcboot::record
