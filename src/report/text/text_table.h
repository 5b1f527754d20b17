// Tables of words and numbers for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vernier {

using TextRow = std::vector<std::string>;

struct TextTable {
  size_t indent = 2;  ///< blanks before each row
  size_t gap = 2;     ///< blanks between columns
  /// Columns [first, end) are numbers and stand to the right; the others to the left.
  size_t first_number = 0;
  size_t end_number = 0;
};

/// Columns as wide as their widest cell, in code points; no blanks at the ends of lines. Rows may
/// be shorter than others. A row is one line, whatever is in its cells: they are made visible.
std::string FormatTable(std::vector<TextRow> rows, const TextTable& table = {});

}  // namespace vernier
