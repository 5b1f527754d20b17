// Tables of words and numbers for a terminal, and blocks of lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
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

/// Polygraphy's indent_block: four blanks a level before every line, blank ones too, and no newline
/// at the end.
std::string IndentBlock(std::string_view text, size_t levels);

}  // namespace vernier
