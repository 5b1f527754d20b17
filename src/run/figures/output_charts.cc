#include "run/figures/output_charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>

namespace vernier {
namespace {

constexpr size_t kBins = 32;
constexpr int kMostRows = 24;
constexpr int kMostColumns = 32;
constexpr int64_t kPoints = 128;
constexpr int kMostDecades = 16;
// Of a matrix with longer rows or columns nothing could be seen: a vector is folded instead.
constexpr int64_t kMostStretched = 4096;

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
// The last two digits are cells that are no number.
constexpr int kHeatSteps = 61;

// Elements [start, start + n) as float64; magnitudes of complex numbers.
const double* LoadValues(const ElementSpan& elements, int64_t start, size_t n, double* scratch) {
  if (Kind(elements.dtype) != DTypeKind::kComplex) {
    return LoadBlock<double>(elements, start, n, scratch);
  }
  std::complex<double> numbers[kBlockSize];
  const std::complex<double>* values = LoadBlock(elements, start, n, numbers);
  for (size_t i = 0; i < n; ++i) scratch[i] = std::abs(values[i]);
  return scratch;
}

template <typename Visit>
void VisitValues(const ElementSpan& elements, Visit visit) {
  std::array<double, kBlockSize> scratch;
  for (int64_t start = 0; start < elements.count; start += kBlockSize) {
    const size_t n = std::min<size_t>(kBlockSize, static_cast<size_t>(elements.count - start));
    const double* values = LoadValues(elements, start, n, scratch.data());
    for (size_t i = 0; i < n; ++i) visit(values[i]);
  }
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
  /// Within [0, 1]; halves first, since the width of a range may be more than double holds.
  double Place(double value) const {
    const double width = high / 2 - low / 2;
    return width > 0 ? std::clamp((value / 2 - low / 2) / width, 0.0, 1.0) : 0.5;
  }
};

std::vector<int64_t> CountValues(const ElementSpan& elements, const Range& range) {
  std::vector<int64_t> counts(kBins);
  VisitValues(elements, [&](double value) {
    if (!std::isfinite(value)) return;
    const auto bin = static_cast<size_t>(range.Place(value) * kBins);
    ++counts[std::min(bin, kBins - 1)];
  });
  return counts;
}

// floor(log10(value)) of a positive number, without a logarithm for each element.
class DecadeTable {
 public:
  DecadeTable() {
    for (size_t i = 0; i < powers_.size(); ++i) {
      powers_[i] = std::pow(10.0, static_cast<int>(i) + kLowest);
    }
  }
  int Of(double value) const {
    // 1233 / 4096 is log10(2) to four digits: at most one too high or low.
    int decade = std::clamp((std::ilogb(value) * 1233) >> 12, kLowest, kHighest);
    while (decade < kHighest && value >= Power(decade + 1)) ++decade;
    while (decade > kLowest && value < Power(decade)) --decade;
    return decade;
  }

  static constexpr int kLowest = -320;
  static constexpr int kHighest = 308;

 private:
  double Power(int decade) const { return powers_[static_cast<size_t>(decade - kLowest)]; }
  std::array<double, kHighest - kLowest + 1> powers_;
};

// The decades that occur; where they are very many, the lowest are put together.
void TrimDecades(const std::vector<int64_t>& counts, DecadesRecord& record) {
  const auto used = [](int64_t count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), used);
  if (first == counts.end()) return;
  const auto last = std::find_if(counts.rbegin(), counts.rend(), used).base();
  const auto from =
      std::max(first, last - std::min<ptrdiff_t>(kMostDecades, last - counts.begin()));
  record.first_decade = static_cast<int>(from - counts.begin()) + DecadeTable::kLowest;
  record.counts.assign(from, last);
  for (auto below = first; below < from; ++below) record.counts.front() += *below;
}

// How the elements are laid out as a matrix.
struct Matrix {
  int64_t rows = 1;
  int64_t columns = 1;
  int row_axes = -1;
};

Matrix Fold(int64_t count) {
  Matrix matrix;
  matrix.columns = std::max<int64_t>(1, std::llround(std::ceil(std::sqrt(double(count)))));
  // A vector that fits is one row.
  if (count <= kMostColumns) matrix.columns = count;
  matrix.rows = (count + matrix.columns - 1) / matrix.columns;
  return matrix;
}

// Leading axes count rows, the others columns, cut where the matrix is nearest to a square.
Matrix ChooseMatrix(const Dims& dims, int64_t count) {
  Matrix best;
  double best_stretch = static_cast<double>(kMostStretched);
  int64_t rows = 1;
  for (size_t axis = 0; axis + 1 < dims.size(); ++axis) {
    rows *= dims[axis];
    const int64_t columns = count / rows;
    if (rows == 1 || columns == 1) continue;
    const double stretch = double(std::max(rows, columns)) / double(std::min(rows, columns));
    if (stretch >= best_stretch) continue;
    best_stretch = stretch;
    best = {rows, columns, static_cast<int>(axis) + 1};
  }
  return best.row_axes < 0 ? Fold(count) : best;
}

bool IsWorse(double x, double y) {
  if (std::isnan(y)) return false;
  return std::isnan(x) || x > y;
}

// Cells that keep the worst of the elements that fall in them.
class HeatCells {
 public:
  HeatCells(const Dims& dims, int64_t count) : matrix_(ChooseMatrix(dims, count)) {
    rows_ = std::min<int64_t>(kMostRows, matrix_.rows);
    columns_ = std::min<int64_t>(kMostColumns, matrix_.columns);
    cells_.assign(static_cast<size_t>(rows_ * columns_), -1);
  }

  void Add(int64_t start, std::span<const double> errors) {
    for (size_t i = 0; i < errors.size();) {
      const int64_t element = start + static_cast<int64_t>(i);
      const int64_t row = element / matrix_.columns;
      const int64_t column = element % matrix_.columns;
      const int64_t cell = column * columns_ / matrix_.columns;
      // The first column of the next cell: all before it meet in this one.
      const int64_t end = ((cell + 1) * matrix_.columns + columns_ - 1) / columns_;
      const size_t n = std::min(errors.size() - i, static_cast<size_t>(end - column));
      const int64_t place = row * rows_ / matrix_.rows * columns_ + cell;
      double& worst = cells_[static_cast<size_t>(place)];
      for (const double error : errors.subspan(i, n)) {
        if (IsWorse(error, worst)) worst = error;
      }
      i += n;
    }
  }

  HeatRecord Finish() const {
    HeatRecord record;
    record.rows = static_cast<int>(rows_);
    record.columns = static_cast<int>(columns_);
    record.matrix_rows = matrix_.rows;
    record.matrix_columns = matrix_.columns;
    record.row_axes = matrix_.row_axes;
    Range range;
    for (const double cell : cells_) {
      if (cell > 0) range.Add(cell);
    }
    if (!range.empty()) record.least = range.low, record.most = range.high;
    for (const double cell : cells_) record.cells += Digit(cell, range);
    return record;
  }

 private:
  static char Digit(double cell, const Range& range) {
    if (std::isnan(cell)) return '_';
    if (std::isinf(cell)) return '-';
    if (cell < 0) return '.';
    if (cell == 0) return 'A';
    const double width = std::log(range.high) - std::log(range.low);
    const double place = width > 0 ? (std::log(cell) - std::log(range.low)) / width : 1;
    return kDigits[static_cast<size_t>(1 + std::lround(place * (kHeatSteps - 1)))];
  }

  Matrix matrix_;
  int64_t rows_;
  int64_t columns_;
  std::vector<double> cells_;
};

// Every difference: how many of which size, and where.
Status AddDifferences(const OutputComparison& output, ChartRecord& charts) {
  const ElementSpan a = Elements(output.a);
  const DecadeTable table;
  std::vector<int64_t> decades(DecadeTable::kHighest - DecadeTable::kLowest + 1);
  HeatCells cells(output.a_dims, a.count);
  const auto visit = [&](const DifferenceBlock& block) {
    cells.Add(block.start, block.absolute);
    for (const double error : block.absolute) {
      if (error == 0) {
        ++charts.differences.equal;
      } else if (!std::isfinite(error)) {
        ++charts.differences.not_finite;
      } else {
        ++decades[static_cast<size_t>(table.Of(error) - DecadeTable::kLowest)];
      }
    }
  };
  // Infinities that are the same do not differ in a picture.
  const DifferenceRule rule{.infinities_equal = true};
  VERNIER_TRY(VisitDifferences(a, Elements(output.aligned_b), rule, 0, a.count, visit));
  TrimDecades(decades, charts.differences);
  charts.heat = cells.Finish();
  return {};
}

std::string Encode(double place) {
  const auto bits = static_cast<uint32_t>(std::lround(place * 4095));
  return {kDigits[bits >> 6], kDigits[bits & 63]};
}

// Evenly spread elements, a little out of step with the axes, and the worst ones.
std::string SamplePoints(const OutputComparison& output, const Range& range) {
  const ElementSpan a = Elements(output.a), b = Elements(output.aligned_b);
  const int64_t n = std::min(kPoints, a.count);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t step = a.count / n;
    places.push_back(i * step + (i * 7919) % step);
  }
  // Each element once: the worst may be among them.
  for (const WorstElement& worst : output.measures->worst) {
    const auto spread = places.begin() + n;
    if (!std::binary_search(places.begin(), spread, worst.place)) places.push_back(worst.place);
  }
  std::string points;
  for (const int64_t place : places) {
    double scratch[2];
    const double x = *LoadValues(a, place, 1, &scratch[0]);
    const double y = *LoadValues(b, place, 1, &scratch[1]);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    points += Encode(range.Place(x)) + Encode(range.Place(y));
  }
  return points;
}

std::string WhyNone(const OutputComparison& output) {
  if (!output.measures) return "the two sides cannot be compared element by element";
  if (output.a.dtype() == DType::kString) return "it holds strings";
  if (output.a.element_count() == 0) return "it has no elements";
  if (output.a.bytes().empty() || output.aligned_b.bytes().empty()) {
    return "its elements stayed on the device";
  }
  return "";
}

}  // namespace

ChartRecord MakeCharts(const OutputComparison& output) {
  ChartRecord charts;
  charts.missing = WhyNone(output);
  if (!charts.missing.empty()) return charts;
  const ElementSpan a = Elements(output.a), b = Elements(output.aligned_b);
  Range range;
  VisitValues(a, [&](double value) { range.Add(value); });
  VisitValues(b, [&](double value) { range.Add(value); });
  if (const Status status = AddDifferences(output, charts); !status.ok()) {
    charts.missing = status.message();
    return charts;
  }
  if (range.empty()) return charts;  // nothing but NaN and infinities
  charts.low = range.low;
  charts.high = range.high;
  charts.first = CountValues(a, range);
  charts.second = CountValues(b, range);
  charts.points = SamplePoints(output, range);
  return charts;
}

}  // namespace vernier
