#include "report/text/array_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "compare/functions/comparison.h"
#include "core/coordinates.h"
#include "report/text/numpy_text.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr size_t kBarWidth = 40;
constexpr size_t kRunnerWidth = 35;

// Python's f"{text:<width}": columns are code points.
std::string PadRight(std::string_view text, size_t width) {
  const auto columns = static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  return std::string(text) + std::string(width > columns ? width - columns : 0, ' ');
}

// Polygraphy keeps statistics of float32 arrays, and all means, in float32. Rounding ours once, at
// the end, gives its digits wherever its own sum is as good. What overflows float32 stays.
double AsSingle(double value) {
  const bool fits = std::fabs(value) <= static_cast<double>(std::numeric_limits<float>::max());
  return fits ? static_cast<double>(static_cast<float>(value)) : value;
}

std::string Place(int64_t index, const Dims& dims) {
  if (index < 0) return "0";  // empty arrays
  return FormatDims(CoordinatesOf(index, dims));
}

}  // namespace

std::string PadRunner(std::string_view runner) { return PadRight(runner, kRunnerWidth); }

std::string IndentBlock(std::string_view text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out;
}

std::string FormatStatistic(double value, bool single) {
  return FormatG(single ? AsSingle(value) : value, 5);
}

std::string FormatStatistics(const ValueStatistics& s, DType dtype, const Dims& dims) {
  const DTypeKind kind = Kind(dtype);
  if (kind == DTypeKind::kString || kind == DTypeKind::kNone) {
    return "<Error while computing statistics>";
  }
  const bool single = NaturalArithmetic(dtype) == Arithmetic::kFloat32;
  std::string text =
      "mean=" + FormatStatistic(s.mean, true) + ", std-dev=" + FormatStatistic(s.std_dev, single) +
      ", var=" + FormatStatistic(s.variance, single) +
      ", median=" + FormatStatistic(s.median, single) + ", min=" + FormatStatistic(s.min, false) +
      " at " + Place(s.argmin, dims) + ", max=" + FormatStatistic(s.max, false) + " at " +
      Place(s.argmax, dims) + ", avg-magnitude=" + FormatStatistic(s.average_magnitude, true);
  if (kind == DTypeKind::kBool || s.quantiles.size() < 3) return text;
  return text + ", p90=" + FormatStatistic(s.quantiles[0], single) +
         ", p95=" + FormatStatistic(s.quantiles[1], single) +
         ", p99=" + FormatStatistic(s.quantiles[2], single);
}

std::string FormatHistogram(const Histogram& histogram, DType dtype) {
  const DTypeKind kind = Kind(dtype);
  const bool none = kind == DTypeKind::kBool || kind == DTypeKind::kString ||
                    kind == DTypeKind::kComplex || kind == DTypeKind::kNone;
  if (none || !histogram.error.empty()) return "";
  const int64_t largest = *std::max_element(histogram.counts.begin(), histogram.counts.end());
  if (largest == 0) return "None";  // sic: Polygraphy logs Python's None
  std::array<std::string, kHistogramBins + 1> edges;
  size_t start_width = 0;
  size_t end_width = 0;
  for (size_t i = 0; i <= kHistogramBins; ++i) {
    edges[i] = FormatG(histogram.edges[i], 3);
    start_width = std::max(start_width, edges[i].size());
    if (i > 0) end_width = std::max(end_width, edges[i].size());
  }
  std::string text = "---- Histogram ----\n" + PadRight("Bin Range", start_width + end_width + 5) +
                     "|  Num Elems | Visualization";
  for (size_t i = 0; i < kHistogramBins; ++i) {
    char count[32];
    std::snprintf(count, sizeof(count), "%10lld", static_cast<long long>(histogram.counts[i]));
    const double share = static_cast<double>(kBarWidth) * static_cast<double>(histogram.counts[i]) /
                         static_cast<double>(largest);
    text += "\n(" + PadRight(edges[i], start_width) + ", " + PadRight(edges[i + 1], end_width) +
            ") | " + count + " | " + std::string(static_cast<size_t>(share), '#');
  }
  return text;
}

void LogArray(Logger& logger, const ShownArray& array, Severity detail) {
  logger.Info(array.prefix + FormatStatistics(array.statistics, array.dtype, array.dims));
  LogIndent indent(logger);
  if (!logger.Enabled(detail)) return;
  if (array.values != nullptr && array.statistics.count <= kSmallOutput) {
    logger.Log(detail, "---- Values ----\n" + IndentBlock(FormatNumpyArray(*array.values)));
  }
  if (array.histogram == nullptr) return;
  if (!array.histogram->error.empty()) {
    logger.Verbose("Could not generate histogram. Note: Error was: " + array.histogram->error);
  }
  logger.Log(detail, FormatHistogram(*array.histogram, array.dtype));
}

}  // namespace vernier
