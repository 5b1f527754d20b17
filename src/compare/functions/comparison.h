// What a comparison found: plain data, printed by report/ and recorded by record/.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compare/functions/error_bound.h"
#include "compare/outputs/device_measure.h"
#include "compare/pairing/pairing.h"
#include "compare/positions/fed_positions.h"
#include "compare/positions/masked_positions.h"
#include "core/shape_match.h"
#include "kernels/classes/logits.h"
#include "kernels/elements/tensor_elements.h"
#include "kernels/measures/pair_measures.h"
#include "vernier/compare_function.h"
#include "vernier/tensor.h"

namespace vernier {

enum class Verdict : uint8_t {
  kMatched,
  kMismatched,
  kVacuous,  ///< matched, but nothing was shown: see OutputComparison::vacuous
  kSkipped,  ///< not compared on purpose
  kFailed,   ///< could not be compared
  /// Requested, but the metric does not apply to these outputs or is not available here. Neither a
  /// pass nor a mismatch: less was compared than requested.
  kNotVerified,
};

/// The perceptual distance of two images, which needs more than this program has.
class PerceptualMeasure {
 public:
  virtual ~PerceptualMeasure() = default;
  /// The LPIPS distance of two outputs of equal shape. kUnavailable, as one sentence that says what
  /// to install, when it is not available; kInvalidArgument when these are not images.
  virtual Result<double> Measure(const Tensor& a, const Tensor& b) = 0;
};

/// One statistic that `simple` compares with the tolerances.
struct RequiredTolerance {
  ErrorStat stat = ErrorStat::kElemwise;
  /// The tolerance that would have been enough (elemwise: the largest). 0 where the differences'
  /// statistics were not measured, which only elemwise does without.
  double absolute = 0;
  double relative = 0;
  bool passed = false;
};

/// The differences themselves, for small outputs and for a closer look.
struct DifferenceDetail {
  std::optional<DifferenceArrays> values;  ///< only up to kSmallOutput elements
  DifferenceHistograms histograms;
};

struct SimpleResult {
  double rtol = 0;
  double atol = 0;
  double quantile = 0;
  std::vector<RequiredTolerance> required;  ///< one per statistic asked for
  DifferenceSummary difference;             ///< quantiles: 0.9, 0.95, 0.99, then `quantile`
  StatisticsLevel measured = StatisticsLevel::kNone;  ///< of the differences' statistics
  /// The share of elements that may be out of tolerance, and how many times over.
  double allowed_share = 0;
  double allowed_excess = 0;
  std::optional<DifferenceDetail> detail;
  std::optional<BoundVerdict>
      bound;  ///< --tolerance auto; atol and rtol are then its element test's
  std::vector<int64_t> mismatch_places;  ///< only when asked for

  /// In multiples of what is tolerated; at most 1 where nothing fails.
  double times_over() const { return bound ? bound->times_over : difference.worst_ratio; }
};

struct IndexMismatch {
  std::string value;   ///< in Polygraphy's spelling
  bool found = false;  ///< false: not in the other row at all; true: too far away
};

struct IndicesResult {
  int64_t tolerance = 0;
  std::vector<IndexMismatch> mismatches;
};

struct MetricResult {
  double value = 0;
  double threshold = 0;
};

struct LogitsResult {
  int64_t axis = 0;  ///< of the classes, from 0
  int64_t classes = 0;
  Dims position_dims;      ///< the other axes; LogitMeasures counts rows through them in order
  LogitMeasures measures;  ///< A is the reference
  double kl_threshold = 0;
  double top1_threshold = 0;
  RowTokens tokens;  ///< without `next`

  /// Close flips count as equal; NaN where no position was compared.
  double judged_top1() const;
  bool kl_passed() const { return measures.divergence_mean <= kl_threshold; }
  bool top1_passed() const { return judged_top1() >= top1_threshold; }
};

/// A script's verdict, as Polygraphy would save it.
struct ScriptResult {
  std::string json;
};

struct FunctionResult {
  CompareFunction function = CompareFunction::kSimple;
  Verdict verdict = Verdict::kMatched;
  /// For kVacuous, kSkipped, kFailed and kNotVerified, and for logits that do not match.
  std::string why;
  bool shapes_differ = false;  ///< and so nothing was computed
  std::vector<ShapeStep> shape_steps;
  std::variant<std::monostate, SimpleResult, IndicesResult, MetricResult, ScriptResult,
               LogitsResult>
      data;

  bool passed() const { return verdict == Verdict::kMatched || verdict == Verdict::kVacuous; }
  /// Does the result hold numbers that can be averaged?
  bool has_metrics() const {
    return std::holds_alternative<SimpleResult>(data) || std::holds_alternative<MetricResult>(data);
  }
};

/// One pair of outputs under every function that looked at it.
struct OutputComparison {
  std::string a_name;
  std::string b_name;
  PairedBy how = PairedBy::kExact;
  DType a_dtype = DType::kUndefined;
  DType b_dtype = DType::kUndefined;
  Dims a_dims;
  Dims b_dims;
  Tensor a;          ///< shares the runner's bytes
  Tensor b;          ///< as the runner gave it
  Tensor aligned_b;  ///< in A's shape where shapes were matched
  std::vector<FunctionResult> functions;
  /// Of A and `aligned_b`; none where they cannot be compared element by element. `measured` says
  /// which parts are filled.
  std::optional<PairMeasures> measures;
  MeasureRequest measured;
  /// Of the metrics that records show (MetricRow::recorded): those that follow from `measures`, and
  /// the others where distances were asked for; as far as they apply.
  PerMetric<std::optional<double>> metrics;
  /// Of a mask that fits, for all functions but `indices`; absent: there is none, or `logits` alone
  /// was to look. Places count in the whole outputs, statistics leave them out.
  std::optional<MaskedPositions> masked;
  int64_t left_out = 0;  ///< elements that no function looked at, beside those of `masked`
  /// Why agreement of the two shows nothing; empty: it does. Also for outputs that do not agree.
  std::string vacuous;

  const FunctionResult* Find(CompareFunction function) const {
    for (const FunctionResult& result : functions) {
      if (result.function == function) return &result;
    }
    return nullptr;
  }
  /// What a function measured; null: it was not requested, or could not measure.
  template <typename Data>
  const Data* FindData(CompareFunction function) const {
    const FunctionResult* const result = Find(function);
    return result == nullptr ? nullptr : std::get_if<Data>(&result->data);
  }
  bool passed() const {
    for (const FunctionResult& result : functions) {
      if (!result.passed()) return false;
    }
    return true;
  }
  /// Did it not pass only because a metric was not available?
  bool only_not_verified() const {
    for (const FunctionResult& result : functions) {
      if (!result.passed() && result.verdict != Verdict::kNotVerified) return false;
    }
    return !passed();
  }
};

/// One runner's output on its own, as shown after the comparisons.
struct OutputStatistics {
  std::string name;
  Tensor tensor;
  ValueStatistics statistics;  ///< quantiles: 0.9, 0.95, 0.99
  std::optional<Histogram> histogram;
};

struct OutputStatisticsPair {
  OutputStatistics a;
  OutputStatistics b;
  bool passed = true;
};

/// One pair of runners, one iteration.
struct IterationComparison {
  std::string a_runner;
  std::string b_runner;
  Pairing pairing;
  std::vector<OutputComparison> outputs;  ///< in A's order
  std::vector<OutputStatisticsPair> statistics;
  std::vector<std::string> a_outputs;
  std::vector<std::string> b_outputs;
  std::vector<std::string> without_verdict;  ///< outputs for which a script gave no verdict
  /// Outputs that `logits` is not for on either side, and why. Without another function they are
  /// not in `outputs`.
  std::vector<std::pair<std::string, std::string>> not_logits;

  /// Neither side has an output: that shows nothing, but Polygraphy continues.
  bool empty() const { return outputs.empty() && a_outputs.empty() && b_outputs.empty(); }
  /// Both sides have no outputs, or something was compared.
  bool compared_something() const { return !outputs.empty() || empty(); }
  bool passed() const {
    for (const OutputComparison& output : outputs) {
      if (!output.passed()) return false;
    }
    return compared_something();
  }
};

/// Up to this many elements, whole arrays are shown.
inline constexpr int64_t kSmallOutput = 100;

/// When arrays and histograms are worth computing.
enum class DetailLevel : uint8_t { kNever, kOnMismatch, kAlways };

inline bool WantsDetail(DetailLevel level, bool passed) {
  return level == DetailLevel::kAlways || (level == DetailLevel::kOnMismatch && !passed);
}

/// What a caller needs in addition to verdicts. Nothing else is computed, except for outputs that
/// do not match.
struct ComparisonDetail {
  DetailLevel values = DetailLevel::kNever;
  bool output_statistics = false;  ///< fill IterationComparison::statistics
  bool mismatch_places = false;
  /// Of `simple`'s differences, and of each side.
  StatisticsLevel differences = StatisticsLevel::kNone;
  StatisticsLevel sides = StatisticsLevel::kNone;
  bool distances = false;  ///< ULP distances, L2, cosine similarity, PSNR, SNR, RMSE
  /// LPIPS; null: there is none here.
  PerceptualMeasure* perceptual = nullptr;
  ThreadPool* pool = nullptr;  ///< null: the calling thread does all
  /// Where outputs are whose bytes are not here; null: there are none.
  DeviceMeasure* device = nullptr;
  const ErrorBounds* bounds = nullptr;  ///< for --tolerance auto; may be null
  /// What was fed at the positions of outputs; null: that is not known.
  const FedPositions* positions = nullptr;
  /// Once it is set, no further output is compared, and the comparison is useless; may be null.
  const std::atomic<int>* interrupted = nullptr;

  bool Interrupted() const { return interrupted != nullptr && interrupted->load() != 0; }
};

}  // namespace vernier
