#include "picture/heatmap.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "picture/color_bar.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// The room for one slice alone on its page, and for a row of slices.
constexpr int kLargeWidth = 1000;
constexpr int kLargeHeight = 720;
constexpr int kGridWidth = 1260;
constexpr int kGridGap = 14;
constexpr int kMostTile = 420;
constexpr int kFewSlices = 3;
constexpr int kLargeTile = 620;
constexpr int kCaptionHeight = 18;
// A cell of one pixel would be overlooked.
constexpr int kLargeLeastCell = 3;
constexpr int kGridLeastCell = 2;
constexpr int kLargestCell = 72;
// Cells from this size on show their number.
constexpr int kCellWithNumber = 64;
constexpr int kTickRoom = 52;
constexpr int kAxisNameRoom = 20;
constexpr int kLeastWidth = 860;
constexpr int kLeastTile = 26;
// A slice that is pooled along one axis keeps at least so many cells along the other.
constexpr int64_t kFewCells = 64;

/// How one slice is drawn.
struct Tile {
  int64_t row_step = 1;
  int64_t column_step = 1;
  int cells_wide = 1;
  int cells_high = 1;
  int width = 1;  ///< pixels
  int height = 1;

  bool pooled() const { return row_step > 1 || column_step > 1; }
};

int64_t CeilDivide(int64_t x, int64_t y) { return (x + y - 1) / y; }

// The largest whole number of pixels a cell, so that all cells are of one size.
Tile FitTile(const SliceLayout& layout, int room_wide, int room_high, int least_cell) {
  Tile tile;
  const int64_t rows = layout.rows();
  const int64_t columns = layout.columns();
  const int most_wide = room_wide / least_cell;
  const int most_high = room_high / least_cell;
  const int64_t step = std::max(CeilDivide(columns, most_wide), CeilDivide(rows, most_high));
  // The same step along both axes, unless that would leave next to nothing of the short one.
  const auto step_along = [step](int64_t length, int most) {
    return std::max(std::min(step, std::max<int64_t>(length / kFewCells, 1)),
                    CeilDivide(length, most));
  };
  tile.row_step = step_along(rows, most_high);
  tile.column_step = step_along(columns, most_wide);
  tile.cells_high = static_cast<int>(CeilDivide(rows, tile.row_step));
  tile.cells_wide = static_cast<int>(CeilDivide(columns, tile.column_step));
  const int cell = std::clamp(std::min(room_wide / tile.cells_wide, room_high / tile.cells_high), 1,
                              kLargestCell);
  const auto stretched = [cell](int cells) { return cells * std::max(cell, kLeastTile / cells); };
  tile.width = stretched(tile.cells_wide);
  tile.height = stretched(tile.cells_high);
  return tile;
}

class HeatmapPage {
 public:
  HeatmapPage(const PictureSubject& subject, ErrorKind kind, const SliceLayout& layout,
              const ErrorSurvey& survey, const Typeface& typeface)
      : subject_(subject),
        kind_(kind),
        layout_(layout),
        range_(survey.range(kind)),
        typeface_(typeface),
        scale_(IsLogarithmic(kind, range_)
                   ? Scale::Logarithmic(range_.smallest_positive, range_.largest)
                   : Scale::Linear(range_.largest)) {}

  Result<Figure> Draw(int64_t page);

 private:
  bool single() const { return count_ == 1; }
  // Is there a number to put on a scale?
  bool has_scale() const { return range_.largest > 0; }
  bool zeros_are_apart() const { return scale_.logarithmic() || !has_scale(); }
  void Measure(int64_t page);
  Heading MakeHeading(int64_t page) const;
  std::vector<LegendEntry> Legend() const;
  void DrawSlice(const PooledSlice& slice, int64_t index);
  void DrawNumbers(const PooledSlice& slice, const Box& box);
  void DrawAxes(const Box& box, bool left, bool bottom);
  void DrawAxisNames(int top);
  void MarkWorst();
  void DrawBar(const Box& box);
  Box BoxOf(int64_t index) const;
  Rgb ColorOf(double error) const;

  const PictureSubject& subject_;
  ErrorKind kind_;
  const SliceLayout& layout_;
  const ErrorRange& range_;
  const Typeface& typeface_;
  Scale scale_;

  int64_t first_ = 0;
  int64_t count_ = 0;
  int grid_columns_ = 1;
  int grid_rows_ = 1;
  Tile tile_;
  int left_ = 0;
  int top_ = 0;
  Figure figure_;
};

void HeatmapPage::Measure(int64_t page) {
  first_ = layout_.first_slice(page);
  count_ = layout_.slices_on(page);
  grid_columns_ = static_cast<int>(std::min(layout_.grid_columns(), count_));
  grid_rows_ = static_cast<int>(CeilDivide(count_, grid_columns_));
  const int most = count_ <= kFewSlices ? kLargeTile : kMostTile;
  const int room = std::min(kGridWidth / grid_columns_ - kGridGap, most);
  tile_ = single() ? FitTile(layout_, kLargeWidth, kLargeHeight, kLargeLeastCell)
                   : FitTile(layout_, room, room, kGridLeastCell);
  left_ = kMargin + kAxisNameRoom + kTickRoom;
}

Rgb HeatmapPage::ColorOf(double error) const {
  if (error < 0) return kPaper;  // no element
  if (std::isnan(error)) return kNanColor;
  if (std::isinf(error)) return kInfinityColor;
  if (error == 0 && zeros_are_apart()) return kEqualColor;
  return Cividis(scale_.Position(error));
}

Heading HeatmapPage::MakeHeading(int64_t page) const {
  Heading heading(HeatmapName(kind_, subject_.output, scale_.logarithmic()), subject_);
  const int64_t worst_slice = range_.worst_at / layout_.slice_size();
  const bool here = worst_slice >= first_ && worst_slice < first_ + count_;
  std::string worst = "no element differs";
  if (range_.worst != 0) {
    worst = "largest error: " + ShortNumber(range_.worst) + " at " +
            layout_.PlaceName(range_.worst_at) + (here ? ", in the frame" : ", on another page");
  }
  heading.AddLine(worst);
  std::string what;
  if (!single() || layout_.slices() > 1) {
    what = "slices " + layout_.PageName(page) + ", " + std::to_string(count_) + " of " +
           std::to_string(layout_.slices());
  }
  if (tile_.pooled()) {
    what += std::string(what.empty() ? "" : " · ") + "a cell is the worst of " +
            std::to_string(tile_.row_step) + "×" + std::to_string(tile_.column_step) + " elements";
  }
  if (!what.empty()) heading.AddLine(what);
  if (static_cast<size_t>(layout_.pages()) > kMostPages) {
    heading.AddLine(std::to_string(layout_.pages()) + " pages in all; drawn are the " +
                    std::to_string(kMostPages) + " with the largest errors");
  }
  return heading;
}

std::vector<LegendEntry> HeatmapPage::Legend() const {
  std::vector<LegendEntry> entries;
  if (range_.nan_count > 0) {
    entries.push_back({kNanColor, "not a number: " + CountOf(range_.nan_count, "element")});
  }
  if (range_.infinite_count > 0) {
    entries.push_back({kInfinityColor, "infinite: " + CountOf(range_.infinite_count, "element")});
  }
  if (zeros_are_apart() && range_.zero_count > 0) {
    entries.push_back({kEqualColor, "equal (error 0): " + CountOf(range_.zero_count, "element")});
  }
  return entries;
}

Box HeatmapPage::BoxOf(int64_t index) const {
  const auto column = static_cast<int>(index % grid_columns_);
  const auto row = static_cast<int>(index / grid_columns_);
  const int caption = single() ? 0 : kCaptionHeight;
  return {left_ + column * (tile_.width + kGridGap),
          top_ + row * (tile_.height + caption + kGridGap) + caption, tile_.width, tile_.height};
}

void HeatmapPage::DrawSlice(const PooledSlice& slice, int64_t index) {
  const Box box = BoxOf(index);
  Pixels pixels(slice.width(), slice.height(), kPaper);
  for (int y = 0; y < slice.height(); ++y) {
    for (int x = 0; x < slice.width(); ++x) pixels.At(x, y) = ColorOf(slice.At(x, y));
  }
  figure_.Add(Raster{box, std::move(pixels)});
  figure_.Add(Outline{{box.x - 1, box.y - 1, box.width + 2, box.height + 2}, kFaintInk});
  DrawNumbers(slice, box);
  const auto column = index % grid_columns_;
  const bool lowest = index + grid_columns_ >= count_;
  DrawAxes(box, column == 0, lowest);
  if (single()) return;
  figure_.Add(Text{box.x, box.y - 5,
                   typeface_.Fit(layout_.SliceName(first_ + index), tile_.width + kGridGap - 4),
                   TextAnchor::kStart, kInk});
}

void HeatmapPage::DrawNumbers(const PooledSlice& slice, const Box& box) {
  const int cell_wide = box.width / slice.width();
  const int cell_high = box.height / slice.height();
  if (!single() || tile_.pooled() || cell_wide < kCellWithNumber || cell_high < kLeastTile) return;
  for (int y = 0; y < slice.height(); ++y) {
    for (int x = 0; x < slice.width(); ++x) {
      const double error = slice.At(x, y);
      if (error < 0) continue;
      figure_.Add(Text{box.x + x * cell_wide + cell_wide / 2,
                       box.y + y * cell_high + cell_high / 2 + 5,
                       std::isnan(error) ? "NaN" : FormatG(error, 3), TextAnchor::kMiddle,
                       ReadableOn(ColorOf(error))});
    }
  }
}

// Positions of ticks along an axis of so many cells: the first one, and round ones after it.
std::vector<int> AxisTicks(int64_t length, int pixels, int pixels_a_label) {
  if (length == 1) return {0};
  const int most = std::max(pixels / pixels_a_label, 1);
  const double rough = static_cast<double>(length - 1) / most;
  const auto step = static_cast<int64_t>(RoundUp(std::max(rough, 1.0)));
  std::vector<int> ticks;
  for (int64_t at = 0; at < length; at += step) ticks.push_back(static_cast<int>(at));
  return ticks;
}

void HeatmapPage::DrawAxes(const Box& box, bool left, bool bottom) {
  const auto middle = [](int64_t at, int64_t step, int cells, int pixels) {
    return static_cast<int>((2 * (at / step) + 1) * pixels / (2 * cells));
  };
  if (left) {
    for (const int at : AxisTicks(layout_.rows(), box.height, 40)) {
      const int y = box.y + middle(at, tile_.row_step, tile_.cells_high, box.height);
      const int64_t shown = layout_.folded() ? at * layout_.columns() : at;
      figure_.Add(FilledBox{{box.x - 6, y, 5, 1}, kInk});
      figure_.Add(Text{box.x - 9, y + 5, std::to_string(shown), TextAnchor::kEnd});
    }
  }
  if (!bottom) return;
  const int label = typeface_.Width(std::to_string(layout_.columns())) + 24;
  for (const int at : AxisTicks(layout_.columns(), box.width, label)) {
    const int x = box.x + middle(at, tile_.column_step, tile_.cells_wide, box.width);
    figure_.Add(FilledBox{{x, box.y + box.height + 1, 1, 5}, kInk});
    figure_.Add(Text{x, box.y + box.height + 18, std::to_string(at), TextAnchor::kMiddle});
  }
}

void HeatmapPage::DrawAxisNames(int bottom) {
  const Box first = BoxOf(0);
  const Box last = BoxOf(std::min<int64_t>(grid_columns_, count_) - 1);
  std::string rows = layout_.RowAxisName();
  std::string columns = layout_.ColumnAxisName();
  if (layout_.folded()) {
    rows = "first element of the row";
    columns = "element, in rows of " + std::to_string(layout_.columns());
  }
  const int middle_x = (first.x + last.x + last.width) / 2;
  figure_.Add(Text{middle_x, bottom, columns, TextAnchor::kMiddle, kFaintInk});
  const int tiles_bottom = BoxOf(count_ - 1).y + tile_.height;
  // Where the name is longer than the slices are high, it begins at their top, below the heading.
  const int middle_y = std::max((top_ + tiles_bottom) / 2, top_ + typeface_.Width(rows) / 2 + 1);
  Text text{kMargin + 12, middle_y, rows, TextAnchor::kMiddle, kFaintInk};
  text.upward = true;
  figure_.Add(std::move(text));
}

// A frame around the worst element's cell that stands out from any colour.
void HeatmapPage::MarkWorst() {
  const int64_t slice = range_.worst_at / layout_.slice_size();
  if (range_.worst == 0 || slice < first_ || slice >= first_ + count_) return;
  const int64_t element = range_.worst_at % layout_.slice_size();
  const auto cell_x = static_cast<int>(element % layout_.columns() / tile_.column_step);
  const auto cell_y = static_cast<int>(element / layout_.columns() / tile_.row_step);
  const Box box = BoxOf(slice - first_);
  const int cell_wide = box.width / tile_.cells_wide;
  const int cell_high = box.height / tile_.cells_high;
  const int x = box.x + cell_x * cell_wide;
  const int y = box.y + cell_y * cell_high;
  constexpr int kLeastFrame = 9;
  const int grow_x = std::max((kLeastFrame - cell_wide) / 2, 1);
  const int grow_y = std::max((kLeastFrame - cell_high) / 2, 1);
  const Box inner = {x - grow_x, y - grow_y, cell_wide + 2 * grow_x, cell_high + 2 * grow_y};
  const auto grown = [&inner](int by) {
    return Box{inner.x - by, inner.y - by, inner.width + 2 * by, inner.height + 2 * by};
  };
  figure_.Add(Outline{inner, kInk});
  figure_.Add(Outline{grown(1), kPaper});
  figure_.Add(Outline{grown(2), kInk});
}

void HeatmapPage::DrawBar(const Box& box) {
  const bool absolute = kind_ == ErrorKind::kAbsolute;
  const DifferenceRule& rule = subject_.source.rule;
  DrawColorBar(figure_, typeface_, scale_, box,
               {absolute ? "|A - B|, in the output's unit" : "|A - B| / |B|, a ratio",
                absolute ? "atol" : "rtol", absolute ? rule.atol : rule.rtol});
}

Result<Figure> HeatmapPage::Draw(int64_t page) {
  Measure(page);
  std::vector<PooledSlice> slices(
      static_cast<size_t>(count_),
      PooledSlice(layout_.rows(), layout_.columns(), tile_.row_step, tile_.column_step));
  VERNIER_TRY(ReadSlices(subject_.source, kind_, layout_, first_, slices));

  const Heading heading = MakeHeading(page);
  top_ = heading.height() + 8;
  const Box last_column = BoxOf(grid_columns_ - 1);
  const int bar_x = last_column.x + last_column.width + kBarLead;
  figure_.width = std::max(bar_x + kBarWidth + kBarTrail, kLeastWidth);
  const int tiles_bottom = BoxOf(count_ - 1).y + tile_.height;
  const int bar_height = std::clamp(tiles_bottom - top_, kLeastBar, kMostBar);
  const std::vector<LegendEntry> legend = Legend();
  const int axis_names = tiles_bottom + 18 + kAxisNameRoom;
  const int legend_y = std::max(axis_names, top_ + bar_height) + 12;
  figure_.height = legend_y + LegendHeight(typeface_, legend, left_, figure_.width) + kMargin;

  heading.Draw(figure_, typeface_);
  for (size_t i = 0; i < slices.size(); ++i) DrawSlice(slices[i], static_cast<int64_t>(i));
  MarkWorst();
  DrawAxisNames(axis_names);
  if (has_scale()) DrawBar({bar_x, top_, kBarWidth, bar_height});
  DrawLegend(figure_, typeface_, legend, left_, legend_y);
  return std::move(figure_);
}

}  // namespace

bool IsLogarithmic(ErrorKind kind, const ErrorRange& range) {
  const bool all_finite_and_positive =
      range.nan_count == 0 && range.infinite_count == 0 && range.zero_count == 0;
  const bool all_the_same = all_finite_and_positive && range.smallest_positive == range.largest;
  return kind == ErrorKind::kRelative && range.largest > 0 && !all_the_same;
}

std::string HeatmapName(ErrorKind kind, std::string_view output, bool logarithmic) {
  return std::string(kind == ErrorKind::kAbsolute ? "Absolute" : "Relative") + " Error | " +
         std::string(output) + (logarithmic ? " (Log Scale)" : "");
}

Result<Figure> DrawHeatmap(const PictureSubject& subject, ErrorKind kind, const SliceLayout& layout,
                           const ErrorSurvey& survey, int64_t page, const Typeface& typeface) {
  return HeatmapPage(subject, kind, layout, survey, typeface).Draw(page);
}

}  // namespace vernier
