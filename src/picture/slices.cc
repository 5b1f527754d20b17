#include "picture/slices.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "picture/scale.h"

namespace vernier {
namespace {

// Polygraphy's page.
constexpr int64_t kPageRows = 1080;
constexpr int64_t kPageColumns = 1920;
constexpr int64_t kMostGridRows = 14;
constexpr int64_t kMostGridColumns = 7;

// Vectors longer than this are folded.
constexpr int64_t kLongVector = 256;

}  // namespace

SliceLayout::SliceLayout(Dims dims) : own_dims_(std::move(dims)) {
  dims_ = own_dims_;
  while (dims_.size() < 3) dims_.insert(dims_.begin(), 1);
  ChooseAxes();
  rows_ = dims_[row_axis_];
  columns_ = dims_[column_axis_];
  for (size_t axis = 0; axis < dims_.size(); ++axis) {
    if (axis != row_axis_ && axis != column_axis_) slices_ *= dims_[axis];
  }
  ArrangeGrid();
  if (slices_ > 1 || slice_size() <= kLongVector || (rows_ > 1 && columns_ > 1)) return;
  columns_ *= rows_;
  rows_ = 1;
  // Rows somewhat longer than there are rows, and of a length that people can count with.
  fold_ =
      std::max<int64_t>(std::llround(RoundUp(1.5 * std::sqrt(static_cast<double>(columns_)))), 1);
}

void SliceLayout::ChooseAxes() {
  row_axis_ = dims_.size() - 2;
  column_axis_ = dims_.size() - 1;
  if (dims_[row_axis_] > 1 && dims_[column_axis_] > 1) return;
  std::vector<size_t> longer;
  for (size_t axis = 0; axis < dims_.size(); ++axis) {
    if (dims_[axis] > 1) longer.push_back(axis);
  }
  if (longer.empty() || (longer.size() == 1 && longer[0] >= row_axis_)) return;
  column_axis_ = longer.back();
  if (longer.size() > 1) {
    row_axis_ = longer[longer.size() - 2];
  } else {
    row_axis_ = column_axis_ > 0 ? column_axis_ - 1 : 1;  // an axis of length 1
  }
}

void SliceLayout::ArrangeGrid() {
  int64_t grid_rows = std::clamp<int64_t>(kPageRows / rows_, 1, kMostGridRows);
  grid_columns_ = std::clamp<int64_t>(kPageColumns / columns_, 1, kMostGridColumns);
  if (slices_ < grid_rows * grid_columns_) {
    grid_columns_ = std::min(slices_, grid_columns_);
    grid_rows = (slices_ + grid_columns_ - 1) / grid_columns_;
  }
  slices_per_page_ = grid_rows * grid_columns_;
}

int64_t SliceLayout::slices_on(int64_t page) const {
  return std::min(slices_per_page_, slices_ - first_slice(page));
}

std::string SliceLayout::SliceName(int64_t slice) const {
  std::vector<std::string> parts(dims_.size());
  for (size_t axis = dims_.size(); axis-- > 0;) {
    const int64_t length = dims_[axis];
    const bool drawn = axis == row_axis_ || axis == column_axis_;
    // Polygraphy writes its last two axes as ranges, also those of length 1.
    if (drawn) {
      parts[axis] = "0:" + std::to_string(length);
    } else {
      parts[axis] = std::to_string(slice % length);
      slice /= length;
    }
  }
  std::string name = "(";
  for (const std::string& part : parts) name += (name.size() > 1 ? "," : "") + part;
  return name + ")";
}

std::string SliceLayout::PageName(int64_t page) const {
  const int64_t first = first_slice(page);
  return SliceName(first) + " to " + SliceName(first + slices_on(page) - 1);
}

std::string SliceLayout::PlaceName(int64_t element) const {
  Dims place(own_dims_.size());
  for (size_t axis = own_dims_.size(); axis-- > 0;) {
    place[axis] = element % own_dims_[axis];
    element /= own_dims_[axis];
  }
  return FormatDims(place);
}

std::string SliceLayout::AxisName(size_t axis) const {
  const size_t added = dims_.size() - own_dims_.size();
  return axis < added ? "" : "axis " + std::to_string(axis - added);
}

}  // namespace vernier
