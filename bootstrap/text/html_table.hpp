#pragma once

#include <string>
#include <vector>

#include "hpcboot/encode.hpp"

namespace hpcboot {

/// A table of a page.
class HtmlTable {
 public:
  struct Column {
    std::string title;
    bool is_number = false;  ///< aligned to the right
  };
  struct Cell {
    Cell(const std::string& shown) : text(Encoded::as_is(html_text(shown))) {}
    Cell(Encoded html) : text(std::move(html)) {}
    /// @param number by which a page may sort, in `data-value`
    Cell(const std::string& shown, std::string number)
        : text(Encoded::as_is(html_text(shown))), value(std::move(number)) {}

    Encoded text;
    std::string value{};
  };

  explicit HtmlTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// @param cells one for each column
  void add(const std::vector<Cell>& cells);
  Encoded html() const;

 private:
  std::vector<Column> columns_;
  Encoded rows_;
};

}  // namespace hpcboot
