#include "check/properties/agreement.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "compare/functions/comparator.h"
#include "compare/functions/shared_non_finite.h"
#include "compare/outputs/same_bits.h"
#include "core/coordinates.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

std::string FormatTimes(double times) {
  return std::isfinite(times) ? FormatG(times, 3) + " times" : "infinitely often";
}

double TimesOver(const OutputComparison& output) {
  const auto* const simple = output.FindData<SimpleResult>(CompareFunction::kSimple);
  return simple == nullptr ? HUGE_VAL : simple->times_over();
}

// With as many digits as it takes to distinguish them.
std::string FormatUnequal(double a, double b) {
  std::string text;
  for (const int digits : {6, 9, 17}) {
    const std::string left = FormatG(a, digits), right = FormatG(b, digits);
    text = left + " against " + right;
    if (left != right) break;
  }
  return text;
}

// Strings and integers as they are; the measures have them as float64 at best.
std::string FormatExactly(const Tensor& tensor, int64_t place, double value) {
  const auto index = static_cast<size_t>(place);
  if (tensor.dtype() == DType::kString) return QuotePython(tensor.StringAt(place));
  if (tensor.dtype() == DType::kInt64) return std::to_string(tensor.As<int64_t>()[index]);
  if (tensor.dtype() == DType::kUint64) return std::to_string(tensor.As<uint64_t>()[index]);
  return FormatG(value, 17);
}

std::string DescribeElement(const WorstElement& worst, const Tensor& a, const Tensor& b) {
  const bool exact = a.dtype() == DType::kString || IsIntegral(a.dtype());
  return " at " + FormatDims(CoordinatesOf(worst.place, a.dims())) + ": " +
         (exact ? FormatExactly(a, worst.place, worst.a) + " against " +
                      FormatExactly(b, worst.place, worst.b)
                : FormatUnequal(worst.a, worst.b));
}

// The first string that differs: strings have no worst one.
std::string DescribeString(const Tensor& a, const Tensor& b) {
  for (int64_t i = 0; i < a.element_count(); ++i) {
    if (a.StringAt(i) != b.StringAt(i)) return DescribeElement({.place = i}, a, b);
  }
  return "";
}

std::string DescribeApart(const OutputComparison& output, const Tensor& a, const Tensor& b) {
  std::string text = "output '" + output.a_name + "'";
  for (const FunctionResult& result : output.functions) {
    if (!result.passed() && !result.why.empty()) return text + ": " + result.why;
  }
  if (output.a_dims != output.b_dims) {
    return text + ": its shape is " + FormatDims(output.b_dims) + " instead of " +
           FormatDims(output.a_dims);
  }
  if (a.dtype() == DType::kString && b.dtype() == DType::kString) {
    return text + DescribeString(a, b);
  }
  if (output.measures && !output.measures->worst.empty()) {
    text += DescribeElement(output.measures->worst.front(), a, b);
  }
  return text + ", " + FormatTimes(TimesOver(output)) + " what is tolerated";
}

// The first output of another type; comparisons convert.
std::string FindOtherType(const TensorMap& expected, const TensorMap& found) {
  for (const NamedTensor& output : expected) {
    const Tensor* const other = Find(found, output.name);
    if (other == nullptr || other->dtype() == output.tensor.dtype()) continue;
    return "output '" + output.name + "': its type is " + std::string(DTypeName(other->dtype())) +
           " instead of " + std::string(DTypeName(output.tensor.dtype()));
  }
  return "";
}

// Outputs that only one side has.
std::string DescribeMissing(const Pairing& pairing) {
  if (!pairing.left_only.empty()) return "output '" + pairing.left_only.front() + "' is missing";
  return "output '" + pairing.right_only.front() + "' is new";
}

// What both sides make alike is no difference.
void DropSharedNonFinite(TensorMap& expected, TensorMap& found) {
  for (NamedTensor& output : expected) {
    const auto other = std::ranges::find(found, output.name, &NamedTensor::name);
    if (other == found.end()) continue;
    std::optional<TensorPair> both = WithoutSharedNonFinite(output.tensor, other->tensor);
    if (!both) continue;
    output.tensor = std::move(both->a);
    other->tensor = std::move(both->b);
  }
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

Agreement HoldAgainst(TensorMap expected, TensorMap found, const CompareOptions& options,
                      const ErrorBounds* bounds) {
  Agreement agreement;
  if (SameBits(expected, found)) return agreement;
  if (std::string type = FindOtherType(expected, found); !type.empty()) {
    return {Closeness::kApart, HUGE_VAL, std::move(type)};
  }
  DropSharedNonFinite(expected, found);
  ComparisonDetail detail;
  detail.bounds = bounds;
  const IterationComparison comparison =
      CompareIteration({"", {}, expected}, {"", {}, found}, options, detail);
  agreement.closeness = Closeness::kWithinBound;
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
  agreement.closeness = worst->passed() ? Closeness::kWithinBound : Closeness::kApart;
  agreement.where = "output '" + worst->a_name + "'";
  const Tensor* const a = Find(expected, worst->a_name);
  const Tensor* const b = Find(found, worst->b_name);
  if (!worst->passed() && a != nullptr && b != nullptr) {
    agreement.where = DescribeApart(*worst, *a, *b);
  }
  return agreement;
}

}  // namespace vernier
