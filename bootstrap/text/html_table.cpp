#include "text/html_table.hpp"

#include "text/html_format.hpp"

namespace hpcboot {

void HtmlTable::add(const std::vector<Cell>& cells) {
  rows_ += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Encoded attributes;
    if (columns_[i].is_number) attributes += " class=\"number\"";
    if (!cells[i].value.empty()) attributes += html_format(" data-value=\"{}\"", cells[i].value);
    rows_ += html_format("<td{}>{}</td>", attributes, cells[i].text);
  }
  rows_ += "</tr>\n";
}

Encoded HtmlTable::html() const {
  Encoded titles;
  for (const Column& column : columns_) {
    const Encoded attributes = column.is_number ? Encoded(" class=\"number\"") : Encoded();
    titles += html_format("<th scope=\"col\"{}>{}</th>", attributes, column.title);
  }
  return html_format("<table>\n<thead>\n<tr>{}</tr>\n</thead>\n<tbody>\n{}</tbody>\n</table>\n",
                     titles, rows_);
}

}  // namespace hpcboot
