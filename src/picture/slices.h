// How a tensor becomes pages of two-dimensional pictures.
#pragma once

#include <cstdint>
#include <string>

#include "vernier/tensor.h"

namespace vernier {

/// The last two axes are rows and columns, leading axes are flattened to a number of slices, and a
/// grid of slices fills a page: Polygraphy's arrangement, with its numbers. Different from it:
/// where one of the last two axes has length 1 and a leading one does not, the last two longer ones
/// are taken instead (Polygraphy's page would hold dots or lines); a long vector is folded into
/// rows; a slice larger than Polygraphy's page is one page (Polygraphy divides by zero).
class SliceLayout {
 public:
  /// `dims` must hold at least one element.
  explicit SliceLayout(Dims dims);

  /// Of one slice as drawn. A folded vector's last row may be incomplete.
  int64_t rows() const { return folded() ? (columns_ + fold_ - 1) / fold_ : rows_; }
  int64_t columns() const { return folded() ? fold_ : columns_; }
  bool folded() const { return fold_ > 0; }
  /// Elements of one slice. Slices lie one after the other.
  int64_t slice_size() const { return rows_ * columns_; }
  int64_t slices() const { return slices_; }

  int64_t slices_per_page() const { return slices_per_page_; }
  /// Columns of the grid on a page.
  int64_t grid_columns() const { return grid_columns_; }
  int64_t pages() const { return (slices_ + slices_per_page_ - 1) / slices_per_page_; }
  int64_t first_slice(int64_t page) const { return page * slices_per_page_; }
  /// Slices on that page; the last may have fewer.
  int64_t slices_on(int64_t page) const;

  /// Polygraphy's name of a slice: "(1,2,0:8,0:8)", with at least three axes.
  std::string SliceName(int64_t slice) const;
  /// "(0,0,0:8,0:8) to (1,2,0:8,0:8)": what file names end with.
  std::string PageName(int64_t page) const;
  /// An element's place as a Python tuple in the tensor's own axes: "(0, 3)", "(7,)", "()".
  std::string PlaceName(int64_t element) const;
  /// "axis 2", in the tensor's own numbering; empty where the axis is not one of its own.
  std::string RowAxisName() const { return AxisName(row_axis_); }
  std::string ColumnAxisName() const { return AxisName(column_axis_); }

 private:
  void ChooseAxes();
  void ArrangeGrid();
  std::string AxisName(size_t axis) const;

  Dims own_dims_;
  Dims dims_;  ///< with leading ones up to three axes
  size_t row_axis_ = 0;
  size_t column_axis_ = 0;
  int64_t rows_ = 1;
  int64_t columns_ = 1;
  int64_t fold_ = 0;
  int64_t slices_ = 1;
  int64_t slices_per_page_ = 1;
  int64_t grid_columns_ = 1;
};

}  // namespace vernier
