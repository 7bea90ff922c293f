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

/// A table for a terminal: aligned columns, two spaces between them, none at the end of a line. If
/// it is wider than the terminal, the texts of its last column are wrapped, if that is aligned left
/// and has room.
class TextTable {
 public:
  /// A column for each entry.
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// A row of values from anywhere: each cell is made safe by terminal_text().
  /// @param styles of the cells, where there are colours; plain for those beyond its end
  void add(const std::vector<std::string>& cells, std::vector<Style> styles = {});

  /// A row of titles, bold where there are colours.
  void add_titles(const std::vector<std::string>& titles);

  /// All rows, a line each, or several for a wrapped text.
  Encoded text(const Look& look = {}) const;

 private:
  struct Row {
    std::vector<Encoded> cells;
    std::vector<Style> styles;
  };
  std::vector<std::size_t> widths() const;

  std::vector<Align> columns_;
  std::vector<Row> rows_;
};

}  // namespace hpcboot
