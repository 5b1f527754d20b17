#include "report/text/text_table.h"

#include <algorithm>

#include "io/bytes/text_encoding.h"
#include "util/text/visible_text.h"

namespace vernier {

std::string FormatTable(std::vector<TextRow> rows, const TextTable& table) {
  for (TextRow& row : rows) {
    for (std::string& cell : row) cell = VisibleLine(cell);
  }
  std::vector<size_t> widths;
  for (const TextRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], CountCodePoints(row[i]));
    }
  }
  std::string text;
  for (const TextRow& row : rows) {
    std::string line(table.indent, ' ');
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - CountCodePoints(row[i]), ' ');
      const bool number = i >= table.first_number && i < table.end_number;
      line += (number ? pad + row[i] : row[i] + pad) + std::string(table.gap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string IndentBlock(std::string_view text, size_t levels) {
  const std::string tab(4 * levels, ' ');
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::string out = tab;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += tab;
  }
  return out;
}

}  // namespace vernier
