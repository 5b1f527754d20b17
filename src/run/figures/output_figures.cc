#include "run/figures/output_figures.h"

#include <charconv>
#include <complex>
#include <string>
#include <string_view>
#include <vector>

#include "core/coordinates.h"
#include "run/figures/output_charts.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

std::optional<std::vector<int64_t>> FirstPlace(int64_t place, const Dims& dims) {
  if (place < 0) return std::nullopt;
  return CoordinatesOf(place, dims);
}

// Of an integer, which a double may round; empty for anything else.
std::string DigitsAt(const Tensor& tensor, int64_t place) {
  if (place < 0 || place >= tensor.element_count()) return "";
  int64_t scratch;
  uint64_t unsigned_scratch;
  switch (NaturalArithmetic(tensor.dtype())) {
    case Arithmetic::kInt64:
      return std::to_string(*LoadBlock(Elements(tensor), place, 1, &scratch));
    case Arithmetic::kUint64:
      return std::to_string(*LoadBlock(Elements(tensor), place, 1, &unsigned_scratch));
    default:
      return "";
  }
}

// Of a complex number and its partner: "2", "2j", "1-2j".
std::string ComplexDigitsAt(const Tensor& tensor, int64_t place) {
  const bool complex = Kind(tensor.dtype()) == DTypeKind::kComplex;
  const int digits = BitsOf(tensor.dtype()) <= (complex ? 64 : 32) ? 9 : 17;
  std::complex<double> scratch;
  const std::complex<double> value = *LoadBlock(Elements(tensor), place, 1, &scratch);
  const std::string real = FormatG(value.real(), digits);
  if (value.imag() == 0) return real;
  const std::string imaginary = FormatG(value.imag(), digits) + "j";
  if (value.real() == 0) return imaginary;
  return real + (imaginary.starts_with('-') ? "" : "+") + imaginary;
}

// "" where a side is no integer.
std::string DifferenceDigits(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return "";
  const auto magnitude = [](std::string_view digits) {
    uint64_t value = 0;
    if (digits.starts_with('-')) digits.remove_prefix(1);
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  };
  const uint64_t x = magnitude(a), y = magnitude(b);
  if (a.starts_with('-') == b.starts_with('-')) return std::to_string(x > y ? x - y : y - x);
  // The sum may have a bit more than 64.
  const uint64_t last = x % 10 + y % 10;
  const uint64_t tens = x / 10 + y / 10 + last / 10;
  return (tens > 0 ? std::to_string(tens) : "") + std::to_string(last % 10);
}

// Tensors that are on a device have statistics and no bytes.
enum class Bytes : uint8_t { kHere, kPerhapsElsewhere };

SideRecord MakeSide(const ValueStatistics& statistics, const Tensor& tensor, const Dims& dims,
                    Bytes bytes) {
  SideRecord side;
  side.dtype = DTypeName(tensor.dtype());
  if (bytes == Bytes::kHere) {
    side.min_digits = DigitsAt(tensor, statistics.argmin);
    side.max_digits = DigitsAt(tensor, statistics.argmax);
  }
  side.min = statistics.min;
  side.max = statistics.max;
  side.mean = statistics.mean;
  side.std_dev = statistics.std_dev;
  side.nan_count = statistics.nan_count;
  side.infinite_count = statistics.infinite_count;
  side.first_nan = FirstPlace(statistics.first_nan, dims);
  side.first_infinite = FirstPlace(statistics.first_infinite, dims);
  return side;
}

DistanceRecord MakeDistances(const OutputComparison& output) {
  const PairMeasures& measures = *output.measures;
  DistanceRecord distances;
  distances.values = output.metrics;
  if (output.measured.ulp && measures.ulp.applies && measures.ulp.measured > 0) {
    distances.max_ulp = measures.ulp.max;
    distances.ulp_different = measures.ulp.different;
    if (measures.ulp.place_of_max >= 0) {
      distances.max_ulp_index = CoordinatesOf(measures.ulp.place_of_max, output.a_dims);
    }
  }
  return distances;
}

ElementRecord MakeElement(const WorstElement& element, const OutputComparison& output) {
  ElementRecord record;
  record.index = CoordinatesOf(element.place, output.a_dims);
  record.first = element.a;
  record.second = element.b;
  if (output.a_dtype == DType::kString) {
    record.first_text = output.a.StringAt(element.place);
    record.second_text = output.aligned_b.StringAt(element.place);
  } else if (Kind(output.a_dtype) == DTypeKind::kComplex ||
             Kind(output.b_dtype) == DTypeKind::kComplex) {
    record.first_text = ComplexDigitsAt(output.a, element.place);
    record.second_text = ComplexDigitsAt(output.aligned_b, element.place);
  }
  record.absolute_error = element.absolute;
  record.first_digits = DigitsAt(output.a, element.place);
  record.second_digits = DigitsAt(output.aligned_b, element.place);
  record.absolute_digits = DifferenceDigits(record.first_digits, record.second_digits);
  record.relative_error = element.relative;
  record.times_tolerance = element.ratio;
  return record;
}

std::string_view VerdictName(const FunctionResult& result) {
  if (result.passed()) return "passed";
  return result.verdict == Verdict::kNotVerified ? "not verified" : "failed";
}

// What --no-shape-check would make of outputs whose shapes differ.
std::string ShapeSuggestion(const OutputComparison& output) {
  const std::string shapes =
      "the shapes are " + FormatDims(output.a_dims) + " and " + FormatDims(output.b_dims);
  const std::optional<ShapeStep> step = PlanShapeMatch(output.b_dims, output.a_dims);
  if (!step) return shapes + ", which hold different numbers of elements";
  const bool permuted = step->kind == ShapeStep::Kind::kPermuted;
  return shapes + "; --no-shape-check would compare the second " +
         (permuted ? "transposed to " : "as ") + FormatDims(step->to);
}

}  // namespace

GateRecord MakeGate(const FunctionResult& result) {
  GateRecord gate;
  gate.function = CompareFunctionName(result.function);
  gate.verdict = VerdictName(result);
  if (!result.passed()) gate.why = result.why;
  if (result.shapes_differ) gate.why = "the shapes differ";
  if (const auto* metric = std::get_if<MetricResult>(&result.data)) {
    gate.value = metric->value;
    gate.threshold = metric->threshold;
  }
  return gate;
}

OutputFigures MakeFigures(const OutputComparison& output, int64_t iteration, Charts wanted) {
  OutputFigures figures;
  figures.iteration = iteration;
  figures.shape = output.a_dims;
  for (const FunctionResult& result : output.functions) {
    figures.gates.push_back(MakeGate(result));
    if (result.shapes_differ) figures.suggestion = ShapeSuggestion(output);
  }
  if (!output.measures) return figures;
  const PairMeasures& measures = *output.measures;
  if (output.measured.sides != StatisticsLevel::kNone) {
    // Distances in ULP are measured here alone.
    const Bytes bytes = output.measured.ulp ? Bytes::kHere : Bytes::kPerhapsElsewhere;
    figures.first = MakeSide(measures.a, output.a, output.a_dims, bytes);
    figures.second = MakeSide(measures.b, output.aligned_b, output.a_dims, bytes);
  }
  if (output.measured.products) figures.distances = MakeDistances(output);
  const FunctionResult* simple = output.Find(CompareFunction::kSimple);
  const bool some_out = simple != nullptr && measures.difference.mismatches > 0;
  if (wanted == Charts::kWanted) figures.charts = MakeCharts(output);
  for (const WorstElement& element : measures.worst) {
    // Where elements are out of tolerance, the others are not bad.
    if (some_out && element.ratio <= 1) break;
    figures.worst.push_back(MakeElement(element, output));
  }
  return figures;
}

}  // namespace vernier
