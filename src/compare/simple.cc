#include "compare/simple.h"

#include <array>
#include <limits>

namespace vernier {
namespace {

constexpr size_t kErrorQuantile = 3;  // its place after the printed ones

FunctionResult Failed(std::string why) {
  FunctionResult result;
  result.verdict = Verdict::kFailed;
  result.why = std::move(why);
  return result;
}

double Statistic(const ValueStatistics& statistics, ErrorStat stat) {
  switch (stat) {
    case ErrorStat::kElemwise:
    case ErrorStat::kMax:
      return statistics.max;
    case ErrorStat::kMean:
      return statistics.mean;
    case ErrorStat::kMedian:
      return statistics.median;
    case ErrorStat::kQuantile:
      return statistics.quantiles[kErrorQuantile];
  }
  return std::numeric_limits<double>::quiet_NaN();
}

RequiredTolerance Judge(const SimpleResult& simple, ErrorStat stat) {
  RequiredTolerance required;
  required.stat = stat;
  required.absolute = Statistic(simple.difference.absolute, stat);
  required.relative = Statistic(simple.difference.relative, stat);
  required.passed =
      stat == ErrorStat::kElemwise
          ? simple.difference.mismatches == 0
          : WithinTolerance(required.absolute, required.relative, simple.atol, simple.rtol);
  return required;
}

// Differences of strings are 0 or 1, which a tolerance of 1 must not excuse.
DifferenceRule RuleFor(const SimpleResult& simple, const Tensor& a, const CompareOptions& options) {
  if (a.dtype() == DType::kString) return {0, 0, false};
  return {simple.atol, simple.rtol, options.infinities_compare_equal};
}

bool WantsDetail(DetailLevel level, bool passed) {
  return level == DetailLevel::kAlways || (level == DetailLevel::kOnMismatch && !passed);
}

Result<DifferenceDetail> MakeDetail(const Tensor& a, const Tensor& b, const DifferenceRule& rule,
                                    const DifferenceSummary& summary) {
  DifferenceDetail detail;
  if (a.element_count() <= kSmallOutput) {
    VERNIER_ASSIGN_OR_RETURN(DifferenceArrays arrays,
                             MakeDifferences(Elements(a), Elements(b), rule));
    VERNIER_ASSIGN_OR_RETURN(arrays.absolute, arrays.absolute.Reshaped(a.dims()));
    VERNIER_ASSIGN_OR_RETURN(arrays.relative, arrays.relative.Reshaped(a.dims()));
    detail.values = std::move(arrays);
  }
  VERNIER_ASSIGN_OR_RETURN(detail.histograms,
                           MakeDifferenceHistograms(Elements(a), Elements(b), rule, summary));
  return detail;
}

Status AddDetail(SimpleResult& simple, const Tensor& a, const Tensor& b,
                 const DifferenceRule& rule) {
  VERNIER_ASSIGN_OR_RETURN(simple.detail, MakeDetail(a, b, rule, simple.difference));
  return {};
}

}  // namespace

bool WithinTolerance(double absolute, double relative, double atol, double rtol) {
  const bool absolute_failed = absolute != absolute || absolute > atol;
  const bool relative_failed = relative != relative || relative > rtol;
  return !(absolute_failed && relative_failed);
}

FunctionResult CompareSimple(std::string_view name, const Tensor& a, const Tensor& b,
                             const CompareOptions& options, const ComparisonDetail& detail) {
  SimpleResult simple;
  simple.rtol = options.rtol.Lookup(name, kDefaultTolerance);
  simple.atol = options.atol.Lookup(name, kDefaultTolerance);
  simple.quantile = options.error_quantile.Lookup(name, kDefaultErrorQuantile);
  std::vector<ErrorStat> stats = options.check_error_stat.Lookup(name, {});
  if (stats.empty()) stats.push_back(ErrorStat::kElemwise);
  if (!(simple.quantile >= 0 && simple.quantile <= 1)) {
    // The peer ignores a bad quantile that it does not need.
    for (const ErrorStat stat : stats) {
      if (stat == ErrorStat::kQuantile) return Failed("the error quantile must lie within [0, 1]");
    }
    simple.quantile = kDefaultErrorQuantile;
  }

  const DifferenceRule rule = RuleFor(simple, a, options);
  const std::array<double, 4> quantiles = {0.9, 0.95, 0.99, simple.quantile};
  Result<DifferenceSummary> summary =
      SummariseDifferences(Elements(a), Elements(b), rule, quantiles);
  if (!summary.ok()) return Failed(summary.status().message());
  simple.difference = *std::move(summary);

  FunctionResult result;
  for (const ErrorStat stat : stats) {
    simple.required.push_back(Judge(simple, stat));
    if (!simple.required.back().passed) result.verdict = Verdict::kMismatched;
  }
  if (a.dtype() == DType::kString && simple.difference.mismatches > 0) {
    result.verdict = Verdict::kMismatched;
  }
  if (WantsDetail(detail.values, result.passed())) {
    if (Status status = AddDetail(simple, a, b, rule); !status.ok()) {
      return Failed(status.message());
    }
  }
  if (detail.mismatch_places && simple.difference.mismatches > 0) {
    Result<std::vector<int64_t>> places =
        FindMismatches(Elements(a), Elements(b), rule, std::numeric_limits<size_t>::max());
    if (!places.ok()) return Failed(places.status().message());
    simple.mismatch_places = *std::move(places);
  }
  result.data = std::move(simple);
  return result;
}

}  // namespace vernier
