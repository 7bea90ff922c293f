#include "text/table.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/display_width.hpp"
#include "text/terminal.hpp"
#include "text/wrap.hpp"

namespace hpcboot {
namespace {

constexpr std::size_t kBetween = 2;
constexpr std::size_t kLeastRoom = 20;  // a narrower text is harder to read than one below its row
constexpr std::size_t kMostRoom = 40;   // a word that is longer still may stick out
constexpr std::size_t kIndent = 4;      // of a text below its row
// The longest name of a file. A longer cell sticks out: if all rows were as wide as it, the size of
// the table would be its length times the number of rows.
constexpr std::size_t kWidestColumn = 255;

std::size_t sum_of(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (const std::size_t width : widths) sum += width + kBetween;
  return widths.empty() ? 0 : sum - kBetween;
}

// The lines of a stacked title: "local_rank" is "local_" and "rank". A single letter stays where it
// is: "Images/s".
std::vector<std::string> stacked(std::string_view title) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < title.size(); ++i) {
    const char c = title[i];
    if (c != ' ') lines.back() += c;
    const bool is_end = c == ' ' || c == '_' || c == '/' || c == '-';
    if (is_end && i + 2 < title.size()) lines.emplace_back();
  }
  return lines;
}

std::size_t widest(const std::vector<std::string>& lines) {
  std::size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, display_width(line));
  return width;
}

// The least width that a text can be wrapped to.
std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    longest = std::max(longest, display_width(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

}  // namespace

struct TextTable::Layout {
  std::vector<std::size_t> widths;
  std::size_t total = 0;  // columns of the terminal
  bool stacks_titles = false;
  bool wraps_last = false;  // beside the other columns
  bool puts_last_below = false;
};

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
  rows_.back().is_title = true;
}

std::vector<std::size_t> TextTable::widths(bool stacks_titles) const {
  std::vector<std::size_t> widths(columns_.size());
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const std::string& cell = row.cells[i].str();
      const bool is_stacked = stacks_titles && row.is_title;
      const std::size_t width = is_stacked ? widest(stacked(cell)) : display_width(cell);
      widths[i] = std::clamp(width, widths[i], kWidestColumn);
    }
  }
  return widths;
}

std::size_t TextTable::width() const {
  return sum_of(widths(false));
}

TextTable::Layout TextTable::layout(std::size_t width) const {
  Layout layout{widths(false), width};
  if (columns_.empty() || sum_of(layout.widths) <= width) return layout;
  const bool has_text = columns_.back() == Align::left;
  const auto room = [&] {
    const std::size_t others = sum_of(layout.widths) - layout.widths.back();
    return width > others ? width - others : 0;
  };
  // Titles stay in one line if wrapping the last column is enough.
  if (!has_text || room() < kLeastRoom) {
    layout.widths = widths(true);
    layout.stacks_titles = true;
    if (sum_of(layout.widths) <= width) return layout;
  }
  if (!has_text || columns_.size() == 1) return layout;
  std::size_t word = 0;
  for (const Row& row : rows_) word = std::max(word, longest_word(row.cells.back().str()));
  layout.wraps_last = room() >= std::clamp(word, kLeastRoom, kMostRoom);
  layout.puts_last_below = !layout.wraps_last;
  if (layout.wraps_last) layout.widths.back() = room();
  return layout;
}

void TextTable::add_lines(std::string& text, const Row& row, const Layout& layout,
                          bool has_colour) const {
  const std::size_t columns = row.cells.size() - (layout.puts_last_below ? 1 : 0);
  std::vector<std::vector<std::string>> cells(columns);
  std::size_t height = 1;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::string& cell = row.cells[i].str();
    cells[i] = {cell};
    if (row.is_title && layout.stacks_titles) cells[i] = stacked(cell);
    if (!row.is_title && layout.wraps_last && i + 1 == columns)
      cells[i] = wrapped(cell, layout.widths[i]);
    height = std::max(height, cells[i].size());
  }
  for (std::size_t l = 0; l < height; ++l) {
    std::string line;
    std::string pending;  // spaces that only a following text makes part of the line
    for (std::size_t i = 0; i < columns; ++i) {
      // Titles end at the line above their column, other texts start at their row's first line.
      const std::size_t first = row.is_title ? height - cells[i].size() : 0;
      const bool is_in = l >= first && l - first < cells[i].size();
      const std::string cell = is_in ? cells[i][l - first] : "";
      const std::string space(layout.widths[i] - std::min(layout.widths[i], display_width(cell)),
                              ' ');
      if (i > 0) pending += std::string(kBetween, ' ');
      if (columns_[i] == Align::right) pending += space;
      if (!cell.empty()) {
        line += pending + styled(Encoded::as_is(cell), row.styles[i], has_colour).str();
        pending.clear();
      }
      if (columns_[i] == Align::left) pending += space;
    }
    text += line + "\n";
  }
  const std::string last = row.cells.empty() ? "" : row.cells.back().str();
  if (!layout.puts_last_below || row.is_title || last.empty()) return;
  const std::size_t room = layout.total > kIndent ? layout.total - kIndent : 1;
  for (const std::string& line : wrapped(last, room)) {
    text += std::string(kIndent, ' ') +
            styled(Encoded::as_is(line), row.styles.back(), has_colour).str() + "\n";
  }
}

Encoded TextTable::text(const Look& look) const {
  const Layout chosen = layout(look.width);
  std::string text;
  for (const Row& row : rows_) add_lines(text, row, chosen, look.has_colour);
  return Encoded::as_is(std::move(text));
}

}  // namespace hpcboot
