// The decisions of rows in JSON lines of the usual form. Only for this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/rows/decision_places.h"
#include "vernier/row_record.h"

namespace vernier {

/// Takes lines as RowLine() makes them: flat, without spaces, in plain ASCII without escapes, with
/// one sample for each decision. Rows of one pair mostly have the same columns: which ones matter
/// is found once.
class DecisionLines {
 public:
  /// False where the line is another one, and `row` then means nothing; whoever calls parses the
  /// line, which also finds what is wrong with it. Of a line that is taken, `row` has what the
  /// parsed line would give. Reuses the memory of `row`.
  bool Read(std::string_view line, IterationRow& row);

 private:
  struct Cell {
    std::string_view text;
    bool quoted = false;
  };
  struct Cells;
  struct Layout {
    std::vector<std::string> columns;
    std::string pair;
    RowPlaces places;
  };

  bool Split(std::string_view line);
  bool Fits(const Layout& layout) const;
  const Layout* FindLayout();

  std::vector<std::string_view> columns_;  // of the line at hand
  std::vector<Cell> cells_;
  std::vector<Layout> layouts_;
  size_t last_ = 0;  // of the layouts: that of the line before
};

}  // namespace vernier
