// A pair of outputs in one shape, and what is measured about it: in one pass for all comparison
// functions, statistics and records together, and only what one of them needs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/functions/comparison.h"
#include "compare/functions/metric_table.h"
#include "compare/positions/masked_positions.h"
#include "kernels/measures/pair_measures.h"
#include "vernier/compare_options.h"

namespace vernier {

struct Tolerances {
  double absolute = 0;
  double relative = 0;
};

/// The tolerances of `simple` for an output; `name` is the first runner's.
Tolerances TolerancesFor(std::string_view name, const CompareOptions& options);

/// The quantiles of every statistics line.
std::span<const double> PrintedQuantiles();

class PairMeasurement {
 public:
  /// All but `a` and `b` must outlive the object.
  PairMeasurement(const NamedTensor& a, const NamedTensor& b, const CompareOptions& options,
                  const ComparisonDetail& detail);

  const std::string& name() const { return name_; }
  /// Where a mask excludes positions, the others: [positions, values].
  const Tensor& a() const { return a_; }
  const Tensor& b() const { return b_; }              ///< in A's shape where shapes are matched
  const Tensor& whole_a() const { return whole_a_; }  ///< the same with all positions
  const Tensor& whole_b() const { return whole_b_; }
  /// What a mask says of the pair's positions, which are left out where that is certain; absent:
  /// nothing.
  const std::optional<KeptPositions>& kept() const { return kept_; }
  /// The positions where the mask is 0, of both sides; their bytes must be here.
  Result<std::pair<Tensor, Tensor>> Others() const;
  /// A mask excludes every position.
  bool all_masked() const { return LeavesOut() && kept_->kept.empty(); }
  const CompareOptions& options() const { return options_; }
  const ComparisonDetail& detail() const { return detail_; }

  /// The shapes differ and must not.
  bool shapes_differ() const { return shapes_differ_; }
  /// Why B could not be brought to A's shape; empty where that was not tried or worked.
  const std::string& refusal() const { return refusal_; }
  const std::vector<ShapeStep>& shape_steps() const { return steps_; }
  /// Both sides have the same elements at the same places.
  bool aligned() const { return !shapes_differ_ && refusal_.empty(); }
  bool transposed() const;
  /// The bytes are on a device, and were not fetched so far.
  bool on_device() const { return on_device_; }

  /// The tolerances of `simple` for single elements; with a bound, known once measured.
  const Tolerances& tolerances() const { return tolerances_; }
  /// How the pair compares with the bound of --tolerance auto, without single elements; absent with
  /// fixed tolerances and before the first Measure().
  const std::optional<BoundVerdict>& bound() const { return bound_; }

  /// `simple`'s rule. Strings must be equal, whatever the tolerances; without `simple`, everything
  /// that differs is out of tolerance.
  const DifferenceRule& rule() const { return request_.rule; }
  /// The quantile that `simple` checks.
  double error_quantile() const { return quantile_; }

  /// Everything that the options and the detail require; measured by the first call. The shapes
  /// must be aligned. nullptr when the types cannot be compared: then status() says why.
  const PairMeasures* Measure();
  const Status& status() const { return status_; }

  /// What metrics are computed from; without measures before the first Measure().
  MetricInput Input() const;

  /// Adds what is reported of outputs that do not match: the worst elements, all distances, extrema
  /// and the sides' own statistics. One more pass, for what is not there.
  void MeasureMismatch();

  /// What Measure and MeasureMismatch have filled.
  const MeasureRequest& measured() const { return request_; }
  std::optional<PairMeasures>& measures() { return measures_; }

 private:
  void Align(const Tensor& b);
  bool LeavesOut() const { return kept_ && kept_->masked.excluded > 0; }
  void LeaveOutMasked();
  void AskForSimple();
  const ErrorBound* FindBound() const;
  Status MeasureBound();
  void SetRule();
  void AskForMetrics();
  void AskForDetail();
  void ChoosePlace();
  Status BringHere();
  Result<PairMeasures> MeasureOnDevice();

  std::string name_;
  Tensor a_;
  Tensor b_;
  Tensor whole_a_;
  Tensor whole_b_;
  std::optional<KeptPositions> kept_;
  const CompareOptions& options_;
  const ComparisonDetail& detail_;
  bool shapes_differ_ = false;
  std::string refusal_;
  std::vector<ShapeStep> steps_;
  Tolerances tolerances_;
  std::optional<BoundVerdict> bound_;
  double quantile_ = kDefaultErrorQuantile;
  bool on_device_ = false;
  MeasureRequest request_;
  std::optional<PairMeasures> measures_;
  Status status_;
};

}  // namespace vernier
