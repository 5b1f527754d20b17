// The decisions of rows in arrays of the usual form. Only for this folder.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/rows/decision_places.h"
#include "vernier/row_record.h"
#include "vernier/tensor.h"

namespace vernier {

/// Takes rows with one sample for each decision, as DecisionLines does.
class DecisionTable {
 public:
  /// Arrays by the names of their columns, all of the same number of rows; they must outlive the
  /// object.
  explicit DecisionTable(const std::map<std::string, Tensor>& arrays);

  /// False where the row is another one, and `row` then means nothing. Reuses the memory of `row`.
  bool Read(size_t number, IterationRow& row);

 private:
  struct Cells;
  struct Layout {
    std::string pair;
    RowPlaces places;
  };

  const Layout* FindLayout(std::string_view pair);

  std::vector<std::string> columns_;  // of all arrays
  std::vector<const Tensor*> arrays_;
  const Tensor* pairs_ = nullptr;
  bool plain_ = true;
  std::vector<Layout> layouts_;
  size_t last_ = 0;
};

}  // namespace vernier
