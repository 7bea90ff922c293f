#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "hpcboot/encode.hpp"
#include "text/style.hpp"

namespace hpcboot {

enum class Align { left, right };

/// What the place that a table goes to can show.
struct Look {
  std::size_t width = std::numeric_limits<std::size_t>::max();  ///< columns
  bool has_colour = false;
};

/// The terminal on this descriptor; for a file or a pipe, lines of any length without colours.
Look look_of(int descriptor);

/// A table for a terminal: aligned columns, two spaces between them, no space at the end of a line.
/// If it is wider than the terminal, its titles are stacked ("local_" above "rank"), and the texts
/// of its last column are wrapped if that column is aligned left: beside the others if there is
/// room, else below each row, indented. Cells of more than 255 columns stick out.
class TextTable {
 public:
  /// A column for each entry.
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// A row of values from anywhere: each cell is made safe by terminal_text().
  /// @param styles of the cells, if there are colours; plain for those beyond its end
  void add(const std::vector<std::string>& cells, std::vector<Style> styles = {});

  /// A row of titles, bold if there are colours.
  void add_titles(const std::vector<std::string>& titles);

  /// All rows, a line each, or several if they are too wide for one.
  Encoded text(const Look& look = {}) const;

  /// The columns that text() takes without a limit.
  std::size_t width() const;

 private:
  struct Row {
    std::vector<Encoded> cells;
    std::vector<Style> styles;
    bool is_title = false;
  };
  struct Layout;

  std::vector<std::size_t> widths(bool stacks_titles) const;
  Layout layout(std::size_t width) const;
  void add_lines(std::string& text, const Row& row, const Layout& layout, bool has_colour) const;

  std::vector<Align> columns_;
  std::vector<Row> rows_;
};

}  // namespace hpcboot
