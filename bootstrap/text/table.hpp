#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hpcboot/encode.hpp"

namespace hpcboot {

enum class Align { left, right };

/// A table for a terminal: aligned columns, two spaces between them, none at the end of a line.
class TextTable {
 public:
  /// A column for each entry.
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// A row, of titles or of values from anywhere: each cell is made safe by terminal_text().
  void add(const std::vector<std::string>& cells);

  /// All rows, a line each.
  Encoded text() const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<Encoded>> rows_;
};

}  // namespace hpcboot
