#include "text/table.hpp"

#include <algorithm>
#include <utility>

#include "text/display_width.hpp"
#include "text/terminal.hpp"
#include "text/wrap.hpp"

namespace hpcboot {
namespace {

constexpr std::size_t kBetween = 2;
constexpr std::size_t kLeastRoom = 20;  // a narrower text is harder to read than a long line

}  // namespace

Look look_of(int descriptor) {
  const int columns = terminal_columns(descriptor, 0);
  Look look;
  if (columns > 0) look.width = static_cast<std::size_t>(columns);
  look.has_colour = has_colour(descriptor);
  return look;
}

void TextTable::add(const std::vector<std::string>& cells, std::vector<Style> styles) {
  Row row;
  row.cells.reserve(columns_.size());
  for (const std::string& cell : cells) row.cells.push_back(terminal_text(cell));
  row.cells.resize(columns_.size());
  row.styles = std::move(styles);
  row.styles.resize(columns_.size(), Style::plain);
  rows_.push_back(std::move(row));
}

void TextTable::add_titles(const std::vector<std::string>& titles) {
  add(titles, std::vector<Style>(columns_.size(), Style::bold));
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row.cells[i].str()));
  }
  return widths;
}

Encoded TextTable::text(const Look& look) const {
  std::vector<std::size_t> width = widths();
  std::size_t last_column = 0;  // where the last one starts
  for (std::size_t i = 0; i + 1 < width.size(); ++i) last_column += width[i] + kBetween;
  const bool wraps = !columns_.empty() && columns_.back() == Align::left &&
                     look.width >= last_column + kLeastRoom &&
                     look.width - last_column < width.back();
  if (wraps) width.back() = look.width - last_column;
  std::string text;
  for (const Row& row : rows_) {
    std::string line;
    std::string pending;  // spaces that only a following text makes part of the line
    std::vector<std::string> more;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      std::string cell = row.cells[i].str();
      if (wraps && i + 1 == row.cells.size()) {
        more = wrapped(cell, width.back());
        cell = more.front();
        more.erase(more.begin());
      }
      const std::string space(width[i] - std::min(width[i], display_width(cell)), ' ');
      if (i > 0) pending += std::string(kBetween, ' ');
      if (columns_[i] == Align::right) pending += space;
      if (!cell.empty()) {
        line += pending + styled(Encoded::as_is(cell), row.styles[i], look.has_colour).str();
        pending.clear();
      }
      if (columns_[i] == Align::left) pending += space;
    }
    text += line + "\n";
    for (const std::string& one : more) text += std::string(last_column, ' ') + one + "\n";
  }
  return Encoded::as_is(std::move(text));
}

}  // namespace hpcboot
