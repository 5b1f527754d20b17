#include "compare/comparator.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "compare/indices.h"
#include "compare/metrics.h"
#include "compare/simple.h"

namespace vernier {
namespace {

constexpr std::array<double, 3> kPrintedQuantiles = {0.9, 0.95, 0.99};

// Are all elements the same bits? Compares the bytes with themselves one element later.
bool IsConstant(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  const int bits = BitsOf(tensor.dtype());
  if (bits < 8 || tensor.element_count() < 2) return false;
  const auto size = static_cast<size_t>(bits / 8);
  return std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

// Why a match of these two would show nothing; empty if it shows something.
std::string VacuousBecause(const Tensor& a, const Tensor& b) {
  if (a.element_count() == 0) return "no elements";
  if (!IsConstant(a) || !IsConstant(b)) return "";
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  const auto first_a = a.bytes().first(static_cast<size_t>(BitsOf(a.dtype()) / 8));
  return std::all_of(first_a.begin(), first_a.end(), is_zero) ? "all elements are zero"
                                                              : "all elements are the same";
}

/// Everything that a function needs to know about a pair.
struct PairView {
  const NamedTensor& a;
  const NamedTensor& b;
  const CompareOptions& options;
  const ComparisonDetail& detail;
};

FunctionResult Refuse(Verdict verdict, std::string why) {
  FunctionResult result;
  result.verdict = verdict;
  result.why = std::move(why);
  return result;
}

FunctionResult RunAligned(CompareFunction function, const PairView& pair, const Tensor& b) {
  if (function == CompareFunction::kSimple) {
    return CompareSimple(pair.a.name, pair.a.tensor, b, pair.options, pair.detail);
  }
  return CompareMetric(function, pair.a.name, pair.a.tensor, b, pair.options);
}

FunctionResult RunWithShapes(CompareFunction function, const PairView& pair, Tensor& aligned_b) {
  const Dims& a_dims = pair.a.tensor.dims();
  if (!pair.options.no_shape_check) {
    if (a_dims == pair.b.tensor.dims()) return RunAligned(function, pair, pair.b.tensor);
    FunctionResult result = Refuse(Verdict::kMismatched, "");
    result.shapes_differ = true;
    return result;
  }
  Result<ShapeMatch> match = MatchShape(pair.b.tensor, a_dims);
  if (!match.ok()) return Refuse(Verdict::kFailed, match.status().message());
  aligned_b = match->tensor;
  if (aligned_b.element_count() != pair.a.tensor.element_count()) {
    FunctionResult result =
        Refuse(Verdict::kFailed, "an output of shape " + FormatDims(aligned_b.dims()) +
                                     " cannot be brought to shape " + FormatDims(a_dims));
    result.shape_steps = std::move(match->steps);
    return result;
  }
  FunctionResult result = RunAligned(function, pair, aligned_b);
  result.shape_steps = std::move(match->steps);
  return result;
}

FunctionResult RunOne(CompareFunction function, const PairView& pair, Tensor& aligned_b) {
  FunctionResult result =
      function == CompareFunction::kIndices
          ? CompareIndices(pair.a.name, pair.a.tensor, pair.b.tensor, pair.options)
          : RunWithShapes(function, pair, aligned_b);
  result.function = function;
  if (result.verdict != Verdict::kMatched) return result;
  result.why = VacuousBecause(pair.a.tensor, pair.b.tensor);
  if (!result.why.empty()) result.verdict = Verdict::kVacuous;
  return result;
}

OutputComparison StartComparison(const NamedTensor& a, const NamedTensor& b) {
  OutputComparison comparison;
  comparison.a_name = a.name;
  comparison.b_name = b.name;
  comparison.a_dtype = a.tensor.dtype();
  comparison.b_dtype = b.tensor.dtype();
  comparison.a_dims = a.tensor.dims();
  comparison.b_dims = b.tensor.dims();
  comparison.a = a.tensor;
  comparison.b = b.tensor;
  comparison.aligned_b = b.tensor;
  return comparison;
}

// Python's min and max, which keep the first argument when the second is NaN.
HistogramRange SharedRange(const ValueStatistics& a, const ValueStatistics& b) {
  return {b.min < a.min ? b.min : a.min, b.max > a.max ? b.max : a.max, true};
}

// The peer knows only A's name for results that are bare booleans, and looks B's output up by it.
const NamedTensor* StatisticsPartner(const OutputComparison& output, const IterationResult& b,
                                     const CompareOptions& options) {
  const FunctionResult& first = output.functions.front();
  const bool bare = first.shapes_differ || first.function == CompareFunction::kIndices;
  const std::string& name = bare && options.lenient ? output.a_name : output.b_name;
  for (const NamedTensor& entry : b.outputs) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

bool WantsDetail(DetailLevel level, bool passed) {
  return level == DetailLevel::kAlways || (level == DetailLevel::kOnMismatch && !passed);
}

std::vector<std::string> Names(const TensorMap& map) {
  std::vector<std::string> names;
  for (const NamedTensor& entry : map) names.push_back(entry.name);
  return names;
}

void AddStatistics(IterationComparison& out, const IterationResult& b,
                   const CompareOptions& options, const ComparisonDetail& detail) {
  for (const OutputComparison& output : out.outputs) {
    // Only what the first function looked at.
    if (output.functions.front().function != options.functions.front()) continue;
    const NamedTensor* partner = StatisticsPartner(output, b, options);
    if (partner == nullptr) continue;
    OutputStatisticsPair pair;
    pair.passed = output.passed();
    pair.a = DescribeOutput(output.a_name, output.a, false);
    pair.b = DescribeOutput(partner->name, partner->tensor, false);
    if (WantsDetail(detail.values, pair.passed)) {
      const HistogramRange range = SharedRange(pair.a.statistics, pair.b.statistics);
      pair.a.histogram = ComputeHistogram(Elements(pair.a.tensor), range);
      pair.b.histogram = ComputeHistogram(Elements(pair.b.tensor), range);
    }
    out.statistics.push_back(std::move(pair));
  }
}

}  // namespace

FunctionResult CompareWith(CompareFunction function, const NamedTensor& a, const NamedTensor& b,
                           const CompareOptions& options, const ComparisonDetail& detail) {
  Tensor aligned_b;
  return RunOne(function, {a, b, options, detail}, aligned_b);
}

OutputComparison CompareOutputs(const NamedTensor& a, const NamedTensor& b,
                                const CompareOptions& options, const ComparisonDetail& detail) {
  OutputComparison comparison = StartComparison(a, b);
  for (const CompareFunction function : options.functions) {
    comparison.functions.push_back(RunOne(function, {a, b, options, detail}, comparison.aligned_b));
  }
  return comparison;
}

IterationComparison CompareIteration(const IterationResult& a, const IterationResult& b,
                                     const CompareOptions& options, const ComparisonDetail& detail,
                                     PairingRule rule) {
  IterationComparison out;
  out.a_runner = a.runner_name;
  out.b_runner = b.runner_name;
  out.a_outputs = Names(a.outputs);
  out.b_outputs = Names(b.outputs);
  out.pairing = PairOutputs(a.outputs, b.outputs, rule);
  for (const OutputPair& pair : out.pairing.pairs) {
    out.outputs.push_back(StartComparison(a.outputs[pair.a], b.outputs[pair.b]));
    out.outputs.back().how = pair.how;
  }
  for (const CompareFunction function : options.functions) {
    for (size_t i = 0; i < out.outputs.size(); ++i) {
      const OutputPair& pair = out.pairing.pairs[i];
      OutputComparison& output = out.outputs[i];
      output.functions.push_back(RunOne(
          function, {a.outputs[pair.a], b.outputs[pair.b], options, detail}, output.aligned_b));
      if (options.fail_fast && !output.functions.back().passed()) break;
    }
  }
  std::erase_if(out.outputs, [](const OutputComparison& o) { return o.functions.empty(); });
  if (detail.output_statistics) AddStatistics(out, b, options, detail);
  return out;
}

OutputStatistics DescribeOutput(std::string name, const Tensor& tensor, bool with_histogram,
                                const std::optional<HistogramRange>& range) {
  OutputStatistics out;
  out.name = std::move(name);
  out.tensor = tensor;
  out.statistics = ComputeStatistics(Elements(tensor), kPrintedQuantiles);
  if (!with_histogram) return out;
  const ValueStatistics& s = out.statistics;
  const HistogramRange own =
      s.count == 0 ? HistogramRange{0, 1, false} : HistogramRange{s.min, s.max, false};
  out.histogram = ComputeHistogram(Elements(tensor), range.value_or(own));
  return out;
}

}  // namespace vernier
