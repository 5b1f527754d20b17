#include "check/agreement.h"

#include <algorithm>
#include <cmath>

#include "compare/comparator.h"
#include "core/coordinates.h"
#include "util/number_text.h"

namespace vernier {
namespace {

bool SameBits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.dims() == b.dims() && std::ranges::equal(a.bytes(), b.bytes());
}

bool SameBits(const TensorMap& a, const TensorMap& b) {
  return std::ranges::equal(a, b, [](const NamedTensor& x, const NamedTensor& y) {
    return x.name == y.name && SameBits(x.tensor, y.tensor);
  });
}

std::string FormatTimes(double times) {
  return std::isfinite(times) ? FormatG(times, 3) + " times" : "infinitely often";
}

double TimesOver(const OutputComparison& output) {
  const FunctionResult* const result = output.Find(CompareFunction::kSimple);
  const auto* const simple = result == nullptr ? nullptr : std::get_if<SimpleResult>(&result->data);
  return simple == nullptr ? HUGE_VAL : simple->times_over();
}

// With as many digits as it takes to tell them apart.
std::string FormatUnequal(double a, double b) {
  std::string text;
  for (const int digits : {6, 9, 17}) {
    const std::string left = FormatG(a, digits), right = FormatG(b, digits);
    text = left + " against " + right;
    if (left != right) break;
  }
  return text;
}

std::string DescribeApart(const OutputComparison& output) {
  std::string text = "output '" + output.a_name + "'";
  for (const FunctionResult& result : output.functions) {
    if (!result.passed() && !result.why.empty()) return text + ": " + result.why;
  }
  if (output.a_dims != output.b_dims) {
    return text + ": its shape is " + FormatDims(output.b_dims) + " instead of " +
           FormatDims(output.a_dims);
  }
  if (output.measures && !output.measures->worst.empty()) {
    const WorstElement& worst = output.measures->worst.front();
    text += " at " + FormatDims(CoordinatesOf(worst.place, output.a_dims)) + ": " +
            FormatUnequal(worst.a, worst.b);
  }
  return text + ", " + FormatTimes(TimesOver(output)) + " what is tolerated";
}

// Outputs that only one side has.
std::string DescribeMissing(const Pairing& pairing) {
  if (!pairing.left_only.empty()) return "output '" + pairing.left_only.front() + "' is missing";
  return "output '" + pairing.right_only.front() + "' is new";
}

}  // namespace

std::string FormatPlace(int64_t place, const Dims& dims) {
  Dims index(dims.size(), 0);
  for (size_t axis = dims.size(); axis-- > 0;) {
    index[axis] = place % dims[axis];
    place /= dims[axis];
  }
  return FormatDims(index);
}

Agreement HoldAgainst(const TensorMap& expected, const TensorMap& found,
                      const CompareOptions& options, const ErrorBars* bars) {
  Agreement agreement;
  if (SameBits(expected, found)) return agreement;
  ComparisonDetail detail;
  detail.bars = bars;
  const IterationComparison comparison =
      CompareIteration({"", {}, expected}, {"", {}, found}, options, detail);
  agreement.closeness = Closeness::kWithinBar;
  if (!comparison.pairing.left_only.empty() || !comparison.pairing.right_only.empty()) {
    return {Closeness::kApart, HUGE_VAL, DescribeMissing(comparison.pairing)};
  }
  const OutputComparison* worst = nullptr;
  double most = -1;
  for (const OutputComparison& output : comparison.outputs) {
    const double times = output.passed() ? std::min(TimesOver(output), 1.0) : TimesOver(output);
    if (worst == nullptr || times > most) {
      worst = &output;
      most = times;
    }
  }
  if (worst == nullptr) return agreement;
  agreement.times_over = most;
  agreement.closeness = worst->passed() ? Closeness::kWithinBar : Closeness::kApart;
  agreement.where = worst->passed() ? "output '" + worst->a_name + "'" : DescribeApart(*worst);
  return agreement;
}

}  // namespace vernier
