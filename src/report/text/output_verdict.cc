// What one output's record says of it, in words.
#include <algorithm>
#include <cmath>
#include <vector>

#include "record/schema/coverage.h"
#include "report/text/verdict_text.h"
#include "util/text/number_text.h"
#include "vernier/dtype.h"

namespace vernier {

std::string_view OutputVerdict(const OutputRecord& output) {
  if (!output.average_verdict.empty()) return output.average_verdict;
  if (output.differs()) return "failed";
  return output.not_verified > 0 || output.compared == 0 ? "not verified" : "passed";
}

std::string_view OutputVerdict(const PairRecord& pair, const OutputRecord& output) {
  const std::string_view verdict = OutputVerdict(output);
  return verdict == "passed" && pair.retyped && IsRetyped(output) ? "failed" : verdict;
}

bool HoldsIntegers(const OutputRecord& output) {
  const auto is_integer = [](const std::string& name) {
    return IsIntegral(DTypeFromName(name).value_or(DType::kUndefined));
  };
  return is_integer(output.dtype) && is_integer(output.other_dtype);
}

std::string FormatError(double error, const OutputRecord& output, int digits) {
  if (!HoldsIntegers(output)) return FormatG(error, digits);
  if (std::fabs(error) <= 0x1p53) return std::to_string(static_cast<int64_t>(error));
  // A double has rounded it; the element that it is of has its digits.
  const std::vector<ElementRecord>& worst = output.figures.worst;
  const auto element = std::ranges::find(worst, error, &ElementRecord::absolute_error);
  const bool known = element != worst.end() && !element->absolute_digits.empty();
  return known ? element->absolute_digits : FormatG(error, digits);
}

std::string FormatRelativeError(const OutputRecord& output, int digits) {
  if (!output.max_relative_error) return "-";
  const bool undefined = std::isnan(*output.max_relative_error) && output.max_absolute_error &&
                         !std::isnan(*output.max_absolute_error) && output.not_finite == 0;
  return undefined ? "0/0" : FormatG(*output.max_relative_error, digits);
}

std::string DescribeWorstElement(const OutputRecord& output) {
  double times = output.worst_times_tolerance;
  if (output.bound) {
    if (output.figures.worst.empty()) return "";
    times = output.figures.worst.front().times_tolerance;
  }
  return ", the worst " +
         (std::isinf(times) ? std::string("infinitely far") : FormatG(times, 3) + " times over");
}

std::string DescribeBound(const OutputRecord& output) {
  if (!output.bound || !(output.bound->times_over > 1)) return "";
  const BoundRecord& bound = *output.bound;
  if (std::isinf(bound.times_over)) return "infinitely far over its error bound";
  const auto decides = [&](double value, double limit) {
    return limit > 0 && std::fabs(value) / limit >= 0.99 * bound.times_over;
  };
  const auto numbers = [](double value, double limit) {
    return FormatG(std::fabs(value), 3) + " against " + FormatG(limit, 3);
  };
  return FormatG(bound.times_over, 3) + " times over its error bound, by " +
         (decides(bound.rms, bound.bound)
              ? "the root mean square error: " + numbers(bound.rms, bound.bound)
          : decides(bound.gain, bound.gain_bound)
              ? "the gain: " + numbers(bound.gain, bound.gain_bound)
          : bound.clean_bound > 0
              ? std::string("single elements, or those that choices and flipped steps leave")
              : std::string("single elements"));
}

}  // namespace vernier
