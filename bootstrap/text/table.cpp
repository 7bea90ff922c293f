#include "text/table.hpp"

#include <algorithm>

#include "text/display_width.hpp"

namespace hpcboot {

void TextTable::add(const std::vector<std::string>& cells) {
  std::vector<Encoded> row;
  row.reserve(columns_.size());
  for (const std::string& cell : cells) row.push_back(terminal_text(cell));
  row.resize(columns_.size());
  rows_.push_back(std::move(row));
}

Encoded TextTable::text() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i].str()));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - display_width(row[i].str()), ' ');
      if (i > 0) line += "  ";
      line += columns_[i] == Align::right ? space + row[i].str() : row[i].str() + space;
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return Encoded::as_is(std::move(text));
}

}  // namespace hpcboot
