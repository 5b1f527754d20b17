// The comparison functions that reduce an output to one number ("metrics"), a row each. Options and
// their binding, verdicts, records, tables, pages, hints and scripts are all made from these rows:
// docs/architecture.md says how to add one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vernier/compare_function.h"
#include "vernier/status.h"

namespace vernier {

class PerceptualMeasure;
class Tensor;
struct CompareOptions;
struct PairMeasures;

/// What a metric is computed from.
enum class MetricNeeds : uint8_t {
  kProducts,  ///< PairMeasures::products; on a device too, and not of strings
  kUlp,       ///< PairMeasures::ulp, and the moments of the differences of integers
  kElements,  ///< the bytes of both sides, in a pass of its own
};

/// One pair of outputs.
struct MetricInput {
  const Tensor& a;
  const Tensor& b;                          ///< in A's shape
  const PairMeasures* measures;             ///< with what the row needs; null only for kElements
  PerceptualMeasure* perceptual = nullptr;  ///< null: there is none here
  bool bytes_here = true;  ///< else they are on a device, as they may be unless needs is kElements
};

struct MetricRow {
  CompareFunction function = CompareFunction::kL2;
  std::string_view name;        ///< in --compare and in records: "l2"
  std::string_view group = "";  ///< that --compare calls it with: "distance_metrics"
  std::string_view label;       ///< in log lines: "L2 Norm"
  std::string_view field;       ///< in files of metrics and verdicts: "l2_norm"
  std::string_view unit = "";   ///< behind a value: " dB"
  bool higher_is_better = false;

  MetricNeeds needs = MetricNeeds::kProducts;
  /// NaN, which never passes, where the number is not defined; kUnavailable, as one sentence, where
  /// the metric does not apply to the pair or cannot be computed on this machine.
  Result<double> (*value)(const MetricInput& pair) = nullptr;

  // In records, which show most metrics of an output without being asked for them.
  /// Is this pair one of whose the value is recorded? `measures` is never null, but the sides'
  /// statistics in it may be missing. Null: of none.
  bool (*recorded)(const MetricInput& pair) = nullptr;
  std::string_view brief = "";  ///< in the line of distances in tables: "L2"
  std::string_view title = "";  ///< on a page; neighbours with one title share a line there
  int digits = 0;               ///< how many are shown; 0: as of most numbers

  // The option that sets its threshold.
  std::string_view flag;        ///< "--l2-threshold"
  std::string_view alias = "";  ///< "--l2-tolerance"
  std::string_view threshold;   ///< its dest, Polygraphy's argument: "l2_threshold"
  std::string_view builtin;     ///< the threshold where none is given: "1e-5"
  std::string_view metavar = "[OUTPUT:]X";
  std::string_view help;

  // What is called after it in Polygraphy: "L2" of L2CompareFunc and L2Result; empty: ours.
  std::string_view polygraphy = "";
  std::string_view polygraphy_threshold = "";  ///< "L2Threshold"

  bool is_ours() const { return polygraphy.empty(); }
  /// The threshold of the output with that name.
  double Threshold(std::string_view output, const CompareOptions& options) const;
  /// NaN never passes; a value equal to the threshold does.
  bool Passes(double value, double limit) const {
    return higher_is_better ? value >= limit : value <= limit;
  }
};

/// All rows, in the order of CompareFunction.
std::span<const MetricRow> MetricTable();

/// All rows in the order of their options: Polygraphy's, then ours.
std::span<const MetricRow* const> MetricsByOrigin();

/// nullptr for what is no metric: `simple`, `indices`, a script.
const MetricRow* FindMetric(CompareFunction function);

}  // namespace vernier
