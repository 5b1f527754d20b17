#include "compare/functions/simple.h"
#include "vernier/compare_options.h"

#include <algorithm>
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

// Does an element lie infinitely far from its partner? Finite numbers whose difference is too large
// for their type do not: their relative difference is finite.
bool DiffersInfinitely(const DifferenceSummary& difference) {
  return difference.absolute.infinite_count > 0 &&
         difference.relative.infinite_count + difference.relative.nan_count > 0;
}

// Are few enough elements out of tolerance, and none too far?
bool ShareHolds(const SimpleResult& simple) {
  const DifferenceSummary& difference = simple.difference;
  if (difference.mismatches == 0) return true;
  if (simple.allowed_share <= 0) return false;
  const double allowed = simple.allowed_share * static_cast<double>(difference.count);
  return static_cast<double>(difference.mismatches) <= allowed &&
         difference.worst_ratio <= simple.allowed_excess && difference.absolute.nan_count == 0 &&
         !DiffersInfinitely(difference);
}

RequiredTolerance Judge(const SimpleResult& simple, ErrorStat stat) {
  RequiredTolerance required;
  required.stat = stat;
  required.absolute = Statistic(simple.difference.absolute, stat);
  required.relative = Statistic(simple.difference.relative, stat);
  required.passed =
      stat == ErrorStat::kElemwise
          ? ShareHolds(simple)
          : WithinTolerance(required.absolute, required.relative, simple.atol, simple.rtol);
  return required;
}

// The statistics to judge: those named, and the elements where a share of them is allowed.
Result<std::vector<ErrorStat>> StatsOf(const PairMeasurement& pair, const SimpleResult& simple) {
  const CompareOptions& options = pair.options();
  std::vector<ErrorStat> stats = options.check_error_stat.Lookup(pair.name(), {});
  const auto has = [&](ErrorStat stat) {
    return std::find(stats.begin(), stats.end(), stat) != stats.end();
  };
  if (stats.empty() || (simple.allowed_share > 0 && !has(ErrorStat::kElemwise))) {
    stats.push_back(ErrorStat::kElemwise);
  }
  const double quantile = options.error_quantile.Lookup(pair.name(), kDefaultErrorQuantile);
  if (has(ErrorStat::kQuantile) && !(quantile >= 0 && quantile <= 1)) {
    return InvalidArgument("the error quantile must lie within [0, 1]");
  }
  return stats;
}

Result<DifferenceDetail> MakeDetail(const Tensor& a, const Tensor& b, const DifferenceRule& rule,
                                    const DifferenceSummary& summary, ThreadPool* pool) {
  DifferenceDetail detail;
  if (a.element_count() <= kSmallOutput) {
    VERNIER_ASSIGN_OR_RETURN(DifferenceArrays arrays,
                             MakeDifferences(Elements(a), Elements(b), rule));
    VERNIER_ASSIGN_OR_RETURN(arrays.absolute, arrays.absolute.Reshaped(a.dims()));
    VERNIER_ASSIGN_OR_RETURN(arrays.relative, arrays.relative.Reshaped(a.dims()));
    detail.values = std::move(arrays);
  }
  VERNIER_ASSIGN_OR_RETURN(detail.histograms,
                           MakeDifferenceHistograms(Elements(a), Elements(b), rule, summary, pool));
  return detail;
}

// What is shown of the differences themselves. Histograms need the differences' extrema, which
// whoever wants detail has asked for.
Status AddDetail(SimpleResult& simple, const PairMeasurement& pair, bool passed) {
  const ComparisonDetail& detail = pair.detail();
  if (WantsDetail(detail.values, passed) && simple.measured != StatisticsLevel::kNone) {
    VERNIER_ASSIGN_OR_RETURN(
        simple.detail, MakeDetail(pair.a(), pair.b(), pair.rule(), simple.difference, detail.pool));
  }
  if (detail.mismatch_places && simple.difference.mismatches > 0) {
    VERNIER_ASSIGN_OR_RETURN(simple.mismatch_places,
                             FindMismatches(Elements(pair.a()), Elements(pair.b()), pair.rule(),
                                            std::numeric_limits<size_t>::max()));
  }
  return {};
}

}  // namespace

bool WithinTolerance(double absolute, double relative, double atol, double rtol) {
  const bool absolute_failed = absolute != absolute || absolute > atol;
  const bool relative_failed = relative != relative || relative > rtol;
  return !(absolute_failed && relative_failed);
}

FunctionResult JudgeSimple(PairMeasurement& pair) {
  const CompareOptions& options = pair.options();
  SimpleResult simple;
  simple.quantile = pair.error_quantile();
  simple.allowed_share = options.max_mismatch_share.Lookup(pair.name(), 0);
  simple.allowed_excess = options.max_mismatch_excess.Lookup(pair.name(), kDefaultMismatchExcess);
  const Result<std::vector<ErrorStat>> stats = StatsOf(pair, simple);
  if (!stats.ok()) return Failed(stats.status().message());
  const PairMeasures* measures = pair.Measure();
  if (measures == nullptr) return Failed(pair.status().message());
  simple.rtol = pair.tolerances().relative;
  simple.atol = pair.tolerances().absolute;
  simple.difference = measures->difference;
  simple.measured = pair.measured().differences;

  FunctionResult result;
  if (pair.bound()) {
    simple.bound = *pair.bound();
    CloseVerdict(simple.difference, ShareHolds(simple), *simple.bound);
    if (!simple.bound->passed) result.verdict = Verdict::kMismatched;
  }
  for (const ErrorStat stat : *stats) {
    simple.required.push_back(Judge(simple, stat));
    if (!simple.required.back().passed) result.verdict = Verdict::kMismatched;
  }
  if (pair.a().dtype() == DType::kString && simple.difference.mismatches > 0) {
    result.verdict = Verdict::kMismatched;
  }
  if (Status status = AddDetail(simple, pair, result.passed()); !status.ok()) {
    return Failed(status.message());
  }
  result.data = std::move(simple);
  return result;
}

void UpdateSimple(FunctionResult& result, PairMeasurement& pair) {
  auto* simple = std::get_if<SimpleResult>(&result.data);
  const PairMeasures* measures = pair.Measure();
  if (simple == nullptr || measures == nullptr) return;
  if (pair.measured().differences <= simple->measured) return;
  simple->difference = measures->difference;
  simple->measured = pair.measured().differences;
  for (RequiredTolerance& required : simple->required) {
    required.absolute = Statistic(simple->difference.absolute, required.stat);
    required.relative = Statistic(simple->difference.relative, required.stat);
  }
}

}  // namespace vernier
