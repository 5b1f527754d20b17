#include "picture/survey.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

namespace vernier {
namespace {

// Severity before size: NaN, then infinity, then the number.
int Severity(double error) { return std::isnan(error) ? 2 : std::isinf(error) ? 1 : 0; }

bool IsWorse(double x, double y) {
  const int severity_x = Severity(x);
  const int severity_y = Severity(y);
  return severity_x != severity_y ? severity_x > severity_y : x > y;
}

void AddError(ErrorRange& range, double error, int64_t element) {
  if (std::isnan(error)) {
    ++range.nan_count;
  } else if (std::isinf(error)) {
    ++range.infinite_count;
  } else if (error == 0) {
    ++range.zero_count;
  } else {
    range.largest = std::max(range.largest, error);
    if (range.smallest_positive == 0 || error < range.smallest_positive) {
      range.smallest_positive = error;
    }
  }
  if (!IsWorse(error, range.worst)) return;
  range.worst = error;
  range.worst_at = element;
}

// Adds a block; `page_size` elements make a page.
void AddBlock(ErrorRange& range, int64_t start, std::span<const double> errors, int64_t page_size) {
  auto page = static_cast<size_t>(start / page_size);
  int64_t rest = page_size - start % page_size;
  for (const double error : errors) {
    if (rest == 0) {
      ++page;
      rest = page_size;
    }
    --rest;
    if (IsWorse(error, range.page_worst[page])) range.page_worst[page] = error;
    AddError(range, error, start++);
  }
}

template <typename T>
void LoadAs(const ElementSpan& elements, int64_t start, size_t n, double* out) {
  T scratch[kBlockSize];
  while (n > 0) {
    const size_t now = std::min(n, kBlockSize);
    const T* values = LoadBlock(elements, start, now, scratch);
    for (size_t i = 0; i < now; ++i) out[i] = std::abs(values[i]);
    start += static_cast<int64_t>(now);
    out += now;
    n -= now;
  }
}

}  // namespace

double WorseError(double x, double y) { return IsWorse(x, y) ? x : y; }

void LoadMagnitudes(const ElementSpan& elements, int64_t start, size_t n, double* out) {
  if (Kind(elements.dtype) == DTypeKind::kComplex) {
    LoadAs<std::complex<double>>(elements, start, n, out);
  } else {
    LoadAs<double>(elements, start, n, out);
  }
}

Result<ErrorSurvey> SurveyErrors(const ErrorSource& source, const SliceLayout& layout) {
  ErrorSurvey survey;
  const auto pages = static_cast<size_t>(layout.pages());
  survey.absolute.page_worst.assign(pages, 0);
  survey.relative.page_worst.assign(pages, 0);
  const int64_t page_size = layout.slices_per_page() * layout.slice_size();
  std::vector<double> magnitudes(kBlockSize);
  VERNIER_TRY(VisitDifferences(
      source.a, source.b, source.rule, 0, source.a.count, [&](const DifferenceBlock& block) {
        AddBlock(survey.absolute, block.start, block.absolute, page_size);
        AddBlock(survey.relative, block.start, block.relative, page_size);
        const size_t n = block.absolute.size();
        if (magnitudes.size() < n) magnitudes.resize(n);
        LoadMagnitudes(source.b, block.start, n, magnitudes.data());
        for (size_t i = 0; i < n; ++i) {
          if (!std::isfinite(magnitudes[i])) continue;
          survey.largest_magnitude = std::max(survey.largest_magnitude, magnitudes[i]);
        }
      }));
  return survey;
}

std::vector<int64_t> WorstPages(const std::vector<double>& page_worst, size_t most) {
  std::vector<int64_t> pages(page_worst.size());
  std::iota(pages.begin(), pages.end(), 0);
  const auto worse = [&](int64_t x, int64_t y) {
    return IsWorse(page_worst[static_cast<size_t>(x)], page_worst[static_cast<size_t>(y)]);
  };
  std::stable_sort(pages.begin(), pages.end(), worse);
  pages.resize(std::min(most, pages.size()));
  std::sort(pages.begin(), pages.end());
  return pages;
}

PooledSlice::PooledSlice(int64_t rows, int64_t columns, int64_t row_step, int64_t column_step)
    : columns_(columns),
      row_step_(row_step),
      column_step_(column_step),
      width_(static_cast<int>((columns + column_step - 1) / column_step)),
      height_(static_cast<int>((rows + row_step - 1) / row_step)),
      cells_(static_cast<size_t>(width_) * static_cast<size_t>(height_), -1) {}

void PooledSlice::Add(int64_t element, std::span<const double> errors) {
  while (!errors.empty()) {
    const int64_t row = element / columns_;
    int64_t column = element % columns_;
    const auto n = std::min(errors.size(), static_cast<size_t>(columns_ - column));
    double* cells =
        cells_.data() + static_cast<size_t>(row / row_step_) * static_cast<size_t>(width_);
    for (const double error : errors.first(n)) {
      double& cell = cells[column / column_step_];
      if (cell < 0 || IsWorse(error, cell)) cell = error;
      ++column;
    }
    element += static_cast<int64_t>(n);
    errors = errors.subspan(n);
  }
}

Status ReadSlices(const ErrorSource& source, ErrorKind kind, const SliceLayout& layout,
                  int64_t first, std::vector<PooledSlice>& slices) {
  const int64_t size = layout.slice_size();
  const int64_t begin = first * size;
  const auto count = static_cast<int64_t>(slices.size()) * size;
  return VisitDifferences(
      source.a, source.b, source.rule, begin, count, [&](const DifferenceBlock& block) {
        std::span<const double> errors =
            kind == ErrorKind::kAbsolute ? block.absolute : block.relative;
        int64_t element = block.start - begin;
        while (!errors.empty()) {
          const auto n = std::min(errors.size(), static_cast<size_t>(size - element % size));
          slices[static_cast<size_t>(element / size)].Add(element % size, errors.first(n));
          element += static_cast<int64_t>(n);
          errors = errors.subspan(n);
        }
      });
}

}  // namespace vernier
