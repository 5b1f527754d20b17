// How the outputs of two runners are judged. A plain aggregate: the command line, the run file and
// library users fill the same struct. A value equal to its threshold passes; NaN never does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/compare_function.h"
#include "vernier/number_rule.h"
#include "vernier/per_output.h"
#include "vernier/status.h"

namespace vernier {

/// Where the tolerances of `simple` come from.
enum class ToleranceRule : uint8_t {
  kFixed,  ///< atol and rtol
  kAuto,   ///< error bounds derived from the arithmetic; see docs/tolerance.md
};

inline constexpr double kDefaultTolerance = 1e-5;
inline constexpr double kDefaultErrorQuantile = 0.99;
inline constexpr double kDefaultMismatchExcess = 10;
inline constexpr double kDefaultLogitsKl = 1e-3;
inline constexpr double kDefaultLogitsTop1 = 1;

struct CompareOptions {
  /// Applied in this order to every pair of outputs; all must pass.
  std::vector<CompareFunction> functions = {CompareFunction::kSimple};

  /// `simple`: an element (or statistic) is within tolerance if its absolute difference is <= atol
  /// or its difference relative to the second runner is <= rtol. Both >= 0; kDefaultTolerance if
  /// not given. Names are those of the first runner's outputs, here and below.
  PerOutput<double> rtol;
  PerOutput<double> atol;
  /// kAuto has no effect on outputs for which atol or rtol has an entry or a fallback.
  PerOutput<ToleranceRule> tolerance;
  /// All of several statistics must be within tolerance. An empty list means elemwise.
  PerOutput<std::vector<ErrorStat>> check_error_stat;
  /// Within [0, 1]; used only if the quantile statistic is checked.
  PerOutput<double> error_quantile;
  /// Infinities of the same sign match instead of differing by NaN.
  bool infinities_compare_equal = false;

  /// `simple`: the fraction of elements, within [0, 1], that may be out of tolerance, as long as
  /// none differs by NaN or infinity or exceeds its nearer tolerance by more than a factor of
  /// max_mismatch_excess. Outputs without a fraction allow none. It applies in addition to other
  /// statistics.
  PerOutput<double> max_mismatch_share;
  PerOutput<double> max_mismatch_excess;

  /// `indices`: by how many positions an equal value may have moved; >= 0.
  PerOutput<int64_t> index_tolerance;

  /// `logits`: the axis of the classes (negative counts from the last) of the outputs that it is
  /// for. With only entries it applies to those; otherwise to every floating output with at least
  /// two classes along that axis, which is the last one unless a fallback says otherwise.
  PerOutput<int64_t> logits_axis;
  /// The largest mean KL divergence over the positions that passes, in nats; >= 0.
  PerOutput<double> logits_kl_threshold;
  /// The smallest fraction of positions with an equal top-1 that passes, within [0, 1]. Close flips
  /// count as equal.
  PerOutput<double> logits_top1_threshold;
  /// How many classes are in the sets that are compared; >= 1.
  int64_t logits_top_k = 5;
  /// The tokens that were fed: the name of an input, or the path of a `.npy` file. Empty: the
  /// integer input 'input_ids', where there is one whose tokens are classes of the logits.
  std::string tokens;
  /// The input that is 0 at positions which are not compared. Empty: the integer input
  /// 'attention_mask', where there is one with a value for each position of the logits.
  std::string mask;

  /// The threshold of each metric in its unit (PSNR and SNR in decibels, ULP in representable
  /// numbers, the KL divergence in nats): the smallest value that passes if more is better,
  /// otherwise the largest. Without an entry and a fallback, the default that --help shows.
  PerMetric<PerOutput<double>> thresholds;

  /// How many of the worst elements are reported for an output that does not match; >= 0.
  int64_t worst_elements = 5;

  /// Transposes or reshapes the second runner's output to the first one's shape.
  bool no_shape_check = false;
  /// A function stops at its first failing output.
  bool fail_fast = false;
  /// Judges each output by its metrics' mean over the iterations.
  bool check_average = false;
  /// Pairs outputs by Polygraphy's loose rules and tolerates one-sided outputs.
  bool lenient = false;

  /// Calls `field(name, value)`, or `field(name, value, FieldRule)`, for each field that is part of
  /// the file of a run, in its order, and `field.Thresholds(thresholds)`. The option of a field
  /// that may differ for each output is called like the field.
  template <typename Plan, typename Fields>
  static constexpr void EachField(Plan& compare, Fields& field) {
    field("functions", compare.functions);
    field("rtol", compare.rtol, kAtLeast0);
    field("atol", compare.atol, kAtLeast0);
    field("tolerance", compare.tolerance, Ours());
    field("check_error_stat", compare.check_error_stat);
    field("error_quantile", compare.error_quantile, kShare);
    field("infinities_compare_equal", compare.infinities_compare_equal);
    field("max_mismatch_share", compare.max_mismatch_share, Ours(kShare));
    field("max_mismatch_excess", compare.max_mismatch_excess, Ours(kAtLeast1));
    field("index_tolerance", compare.index_tolerance, kPositions);
    field("logits_axis", compare.logits_axis, Ours());
    field("logits_kl_threshold", compare.logits_kl_threshold, Ours(kAtLeast0));
    field("logits_top1_threshold", compare.logits_top1_threshold, Ours(kShare));
    field("logits_top_k", compare.logits_top_k, Ours(kClasses));
    field("logits_tokens", compare.tokens);
    field("logits_mask", compare.mask);
    field.Thresholds(compare.thresholds);
    field("worst_elements", compare.worst_elements, Ours(kElementsShown));
    field("no_shape_check", compare.no_shape_check);
    field("fail_fast", compare.fail_fast);
    field("check_average", compare.check_average);
    field("lenient", compare.lenient);
  }
};

/// Whether the error bounds of ToleranceRule::kAuto apply to the output of that name: not if atol
/// or rtol has a value for it.
bool HasAutoTolerance(const CompareOptions& options, std::string_view name);

/// Whether `simple` would check each element of some output, which has no average.
bool ChecksElements(const CompareOptions& options);

/// kInvalidArgument if check_average is combined with something that has no average: fail_fast,
/// `indices`, `logits`, a mismatch share, or `simple` with the elemwise statistic.
Status CheckAverageOptions(const CompareOptions& options);

}  // namespace vernier
