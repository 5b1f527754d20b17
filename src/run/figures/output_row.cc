#include "run/figures/output_row.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>
#include <variant>

#include "run/figures/logits_figures.h"

namespace vernier {
namespace {

// std::max that lets NaN win: an error that is no number is the worst.
void KeepWorse(std::optional<double>& worst, double value) {
  if (!worst || value != value || value > *worst) worst = worst && *worst != *worst ? worst : value;
}

BoundRecord MakeBoundRecord(const BoundVerdict& bound) {
  return {.bound = bound.bound,
          .condition = bound.condition,
          .bound_before = bound.bound_before,
          .scale = bound.scale,
          .rms = bound.rms,
          .gain = bound.gain,
          .gain_bound = bound.gain_bound,
          .clean_bound = bound.clean_bound,
          .share_beyond = bound.beyond,
          .share_allowed = bound.allowed,
          .element_bound = bound.rtol,
          .times_over = bound.times_over,
          .why = bound.why};
}

// One that failed, else one that was widened, else the one that is nearest to its bound.
void KeepWorseBound(BoundRecord bound, std::optional<BoundRecord>& worst) {
  const auto rank = [](const BoundRecord& b) {
    return b.times_over > 1 ? 2 : b.condition > 1 ? 1 : 0;
  };
  const bool worse = !worst || rank(bound) > rank(*worst) ||
                     (rank(bound) == rank(*worst) && bound.times_over > worst->times_over);
  if (worse) worst = std::move(bound);
}

// A NaN is the worst.
void KeepWorseLogits(const LogitsRecord& logits, std::optional<LogitsRecord>& worst) {
  const bool worse = !worst || (worst->passed && !logits.passed) ||
                     (worst->passed == logits.passed && worst->kl_mean == worst->kl_mean &&
                      !(logits.kl_mean <= worst->kl_mean));
  if (worse) worst = logits;
}

// Elements with NaN or infinity on a side.
int64_t CountWildElements(const ElementSpan& a, const ElementSpan& b) {
  using Complex = std::complex<double>;
  const auto wild = [](const Complex& x) {
    return !std::isfinite(x.real()) || !std::isfinite(x.imag());
  };
  std::vector<Complex> a_block(kBlockSize), b_block(kBlockSize);
  int64_t count = 0;
  for (int64_t start = 0; start < a.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, a.count - start));
    const Complex* x = LoadBlock(a, start, n, a_block.data());
    const Complex* y = LoadBlock(b, start, n, b_block.data());
    for (size_t i = 0; i < n; ++i) count += wild(x[i]) || wild(y[i]) ? 1 : 0;
  }
  return count;
}

// Values, not differences: of finite numbers a difference can overflow.
int64_t CountNotFinite(const SimpleResult& simple, const OutputComparison& output) {
  const auto count = [](const ValueStatistics& s) { return s.nan_count + s.infinite_count; };
  const int64_t differences = count(simple.difference.absolute);
  const bool measured = output.measures && output.measured.sides != StatisticsLevel::kNone;
  if (!measured) return differences;
  const int64_t a = count(output.measures->a), b = count(output.measures->b);
  // Distances in ULP are measured only where the bytes are.
  if (a == 0 || b == 0 || differences <= std::max(a, b) || !output.measured.ulp) {
    return std::min(differences, a + b);
  }
  return std::min(differences, CountWildElements(Elements(output.a), Elements(output.aligned_b)));
}

// Did the shapes or the types keep every function from looking at it?
bool FoundNothing(const FunctionResult& function) {
  return function.shapes_differ || function.verdict == Verdict::kFailed ||
         (function.verdict == Verdict::kNotVerified &&
          (std::holds_alternative<std::monostate>(function.data) ||
           std::holds_alternative<LogitsResult>(function.data)));
}

bool HasNoNumbers(const OutputComparison& output) {
  return !output.functions.empty() && std::ranges::all_of(output.functions, FoundNothing);
}

bool JudgesElements(const OutputComparison& output) {
  return std::ranges::any_of(output.functions, [](const FunctionResult& result) {
    return result.function != CompareFunction::kLogits;
  });
}

// By a mask. `logits` counts positions, and leaves out those of outputs that others take whole.
int64_t ExcludedElements(const OutputComparison& output) {
  if (JudgesElements(output)) return output.masked ? output.masked->excluded_elements() : 0;
  const auto* const logits = output.FindData<LogitsResult>(CompareFunction::kLogits);
  return logits == nullptr ? 0 : logits->measures.excluded * logits->classes;
}

void AddSimple(const SimpleResult& simple, const OutputComparison& output, OutputRow& row) {
  const DifferenceSummary& difference = simple.difference;
  row.mismatches = difference.mismatches;
  row.times_over_tolerance = simple.times_over();
  if (simple.bound) row.bound = MakeBoundRecord(*simple.bound);
  if (simple.measured == StatisticsLevel::kNone) return;
  row.max_absolute_error = difference.absolute.max;
  row.max_relative_error = difference.relative.max;
  row.mean_absolute_error = difference.absolute.mean;
  row.not_finite = CountNotFinite(simple, output);
  // No tolerance makes strings equal.
  if (output.a_dtype == DType::kString || output.b_dtype == DType::kString) return;
  for (const RequiredTolerance& required : simple.required) {
    KeepWorse(row.required_absolute, required.absolute);
    KeepWorse(row.required_relative, required.relative);
  }
}

std::string_view VerdictOf(const OutputComparison& output) {
  if (output.passed()) return "passed";
  return output.only_not_verified() ? "not verified" : "failed";
}

void KeepWorse(std::optional<double>& worst, const std::optional<double>& value) {
  if (value) KeepWorse(worst, *value);
}

void FoldElements(const OutputRow& row, OutputRecord& record) {
  if (!row.elements) {
    ++record.without_numbers;
    return;
  }
  record.uneven |= record.elements > 0 && record.elements != *row.elements;
  record.elements = std::max(record.elements, *row.elements);
}

}  // namespace

OutputRow MakeOutputRow(const OutputComparison& output) {
  OutputRow row;
  row.output = output.a_name;
  row.verdict = VerdictOf(output);
  if (!HasNoNumbers(output)) {
    row.elements = output.a.element_count() - output.left_out;
    *row.elements -= ExcludedElements(output);
    row.metrics = output.metrics;
  }
  if (const SimpleResult* simple = output.FindData<SimpleResult>(CompareFunction::kSimple))
    AddSimple(*simple, output, row);
  for (const FunctionResult& function : output.functions) {
    const auto* metric = std::get_if<MetricResult>(&function.data);
    if (metric != nullptr) row.metrics[function.function] = metric->value;
    const auto* logits = std::get_if<LogitsResult>(&function.data);
    const bool judged = logits != nullptr && function.verdict != Verdict::kNotVerified;
    if (judged) row.logits = MakeLogitsRecord(*logits, function.passed());
  }
  return row;
}

void FoldRow(const OutputRow& row, OutputRecord& record) {
  ++record.compared;
  if (row.verdict == "passed") ++record.passed;
  if (row.verdict == "not verified") ++record.not_verified;
  FoldElements(row, record);
  KeepWorse(record.max_absolute_error, row.max_absolute_error);
  KeepWorse(record.max_relative_error, row.max_relative_error);
  KeepWorse(record.mean_absolute_error, row.mean_absolute_error);
  KeepWorse(record.required_absolute, row.required_absolute);
  KeepWorse(record.required_relative, row.required_relative);
  record.worst_times_tolerance =
      std::max(record.worst_times_tolerance, row.times_over_tolerance.value_or(0));
  record.mismatches = std::max(record.mismatches, row.mismatches.value_or(0));
  record.not_finite = std::max(record.not_finite, row.not_finite.value_or(0));
  if (row.bound) KeepWorseBound(*row.bound, record.bound);
  if (row.logits) KeepWorseLogits(*row.logits, record.logits);
}

}  // namespace vernier
