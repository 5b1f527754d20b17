#include "compare/functions/measurement.h"
#include "vernier/compare_options.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/measures/magnitudes.h"

namespace vernier {
namespace {

constexpr std::array<double, 3> kPrintedQuantiles = {0.9, 0.95, 0.99};

void Raise(StatisticsLevel& level, StatisticsLevel at_least) { level = std::max(level, at_least); }

StatisticsLevel LevelFor(ErrorStat stat) {
  switch (stat) {
    case ErrorStat::kElemwise:
      return StatisticsLevel::kNone;
    case ErrorStat::kMax:
    case ErrorStat::kMean:
      return StatisticsLevel::kMoments;
    case ErrorStat::kMedian:
    case ErrorStat::kQuantile:
      break;
  }
  return StatisticsLevel::kRanks;
}

bool IsInteger(DType dtype) {
  const DTypeKind kind = Kind(dtype);
  return kind != DTypeKind::kFloat && kind != DTypeKind::kComplex && kind != DTypeKind::kString;
}

// Devices round them before they multiply, and before they subtract floats.
bool AreLongIntegers(DType a, DType b) {
  return IsInteger(a) && IsInteger(b) && std::max(BitsOf(a), BitsOf(b)) > 32;
}

bool IsLongAgainstFloat(DType a, DType b) {
  return IsInteger(a) != IsInteger(b) && BitsOf(IsInteger(a) ? a : b) > 32;
}

// What `wanted` has and `have` has not.
MeasureRequest Lacking(const MeasureRequest& wanted, const MeasureRequest& have) {
  MeasureRequest lacking = wanted;
  if (have.differences >= wanted.differences) lacking.differences = StatisticsLevel::kNone;
  if (have.sides >= wanted.sides) lacking.sides = StatisticsLevel::kNone;
  lacking.products = wanted.products && !have.products;
  lacking.ulp = wanted.ulp && !have.ulp;
  if (have.worst >= wanted.worst) lacking.worst = 0;
  return lacking;
}

// What a device cannot know, or would have to be asked for again, needs the bytes.
bool NeedsOnlyTallies(CompareFunction function) {
  const MetricRow* const metric = FindMetric(function);
  return metric != nullptr ? metric->needs == MetricNeeds::kProducts
                           : function == CompareFunction::kSimple;
}

bool AsksForSomething(const MeasureRequest& request) {
  return request.differences != StatisticsLevel::kNone || request.sides != StatisticsLevel::kNone ||
         request.products || request.ulp || request.worst > 0;
}

void Merge(PairMeasures& into, PairMeasures&& more, const MeasureRequest& request) {
  if (request.differences != StatisticsLevel::kNone) into.difference = std::move(more.difference);
  if (request.sides != StatisticsLevel::kNone) {
    into.a = std::move(more.a);
    into.b = std::move(more.b);
  }
  if (request.products) into.products = more.products;
  if (request.ulp) into.ulp = more.ulp;
  if (request.worst > 0) into.worst = std::move(more.worst);
}

}  // namespace

Tolerances TolerancesFor(std::string_view name, const CompareOptions& options) {
  return {options.atol.Lookup(name, kDefaultTolerance),
          options.rtol.Lookup(name, kDefaultTolerance)};
}

std::span<const double> PrintedQuantiles() { return kPrintedQuantiles; }

PairMeasurement::PairMeasurement(const NamedTensor& a, const NamedTensor& b,
                                 const CompareOptions& options, const ComparisonDetail& detail)
    : name_(a.name), a_(a.tensor), options_(options), detail_(detail) {
  Align(b.tensor);
  LeaveOutMasked();
  const std::vector<CompareFunction>& functions = options.functions;
  if (std::find(functions.begin(), functions.end(), CompareFunction::kSimple) != functions.end()) {
    AskForSimple();
  } else {
    SetRule();
  }
  AskForMetrics();
  AskForDetail();
  request_.difference_quantiles.assign(kPrintedQuantiles.begin(), kPrintedQuantiles.end());
  request_.difference_quantiles.push_back(quantile_);
  request_.side_quantiles.assign(kPrintedQuantiles.begin(), kPrintedQuantiles.end());
  ChoosePlace();
}

void PairMeasurement::Align(const Tensor& b) {
  b_ = b;
  if (!options_.no_shape_check) {
    shapes_differ_ = a_.dims() != b.dims();
    return;
  }
  Result<ShapeMatch> match = MatchShape(b, a_.dims());
  if (!match.ok()) {
    refusal_ = match.status().message();
    return;
  }
  b_ = match->tensor;
  steps_ = std::move(match->steps);
  if (b_.element_count() != a_.element_count()) {
    refusal_ = "an output of shape " + FormatDims(b_.dims()) + " cannot be brought to shape " +
               FormatDims(a_.dims());
  }
}

// The bytes of outputs on a device are fetched for it.
void PairMeasurement::LeaveOutMasked() {
  whole_a_ = a_;
  whole_b_ = b_;
  if (!aligned() || Kind(b_.dtype()) != Kind(a_.dtype())) return;
  kept_ = FindKeptPositions(detail_.positions, {name_, a_});
  if (!LeavesOut()) return;
  const auto take = [&](Tensor& side) -> Status {
    VERNIER_ASSIGN_OR_RETURN(side, TakePositions(side, kept_->kept, kept_->masked.length));
    return {};
  };
  if (detail_.device != nullptr) status_ = BringHere();
  whole_a_ = a_;
  whole_b_ = b_;
  if (status_.ok()) status_ = take(a_);
  if (status_.ok()) status_ = take(b_);
}

Result<std::pair<Tensor, Tensor>> PairMeasurement::Others() const {
  const bool left_out = LeavesOut();
  const auto take = [&](const Tensor& whole) -> Result<Tensor> {
    if (whole.bytes().empty()) return Unavailable("the bytes are not here");
    return TakePositions(whole, kept_->others, kept_->masked.length);
  };
  VERNIER_ASSIGN_OR_RETURN(Tensor a, take(left_out ? whole_a_ : a_));
  VERNIER_ASSIGN_OR_RETURN(Tensor b, take(left_out ? whole_b_ : b_));
  return std::pair(std::move(a), std::move(b));
}

bool PairMeasurement::transposed() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const ShapeStep& step) { return step.kind == ShapeStep::Kind::kPermuted; });
}

void PairMeasurement::AskForSimple() {
  tolerances_ = TolerancesFor(name_, options_);
  SetRule();
  const double quantile = options_.error_quantile.Lookup(name_, kDefaultErrorQuantile);
  // Polygraphy ignores a bad quantile that it does not need; `simple` refuses one that it does.
  if (quantile >= 0 && quantile <= 1) quantile_ = quantile;
  for (const ErrorStat stat : options_.check_error_stat.Lookup(name_, {})) {
    Raise(request_.differences, LevelFor(stat));
  }
  Raise(request_.differences, detail_.differences);
  // No share excuses a NaN, and only the statistics distinguish it from a very large difference.
  if (options_.max_mismatch_share.Lookup(name_, 0) > 0) {
    Raise(request_.differences, StatisticsLevel::kMoments);
  }
}

const ErrorBound* PairMeasurement::FindBound() const {
  const std::vector<CompareFunction>& functions = options_.functions;
  const bool simple =
      std::find(functions.begin(), functions.end(), CompareFunction::kSimple) != functions.end();
  if (!simple || detail_.bounds == nullptr || !HasAutoTolerance(options_, name_)) return nullptr;
  return detail_.bounds->Find(name_);
}

// A pass of its own: what single elements may differ by depends on the scale of all.
Status PairMeasurement::MeasureBound() {
  const ErrorBound* bound = FindBound();
  if (bound == nullptr) return {};
  if (on_device_) VERNIER_TRY(BringHere());
  VERNIER_ASSIGN_OR_RETURN(bound_, MeasureAgainstBound(a_, b_, *bound));
  tolerances_ = {bound_->atol, bound_->rtol};
  SetRule();
  return {};
}

void PairMeasurement::SetRule() {
  // Differences of strings are 0 or 1, which a tolerance of 1 must not excuse.
  if (a_.dtype() == DType::kString) return;
  // Of logits, -inf on both sides is a class that is masked.
  const bool logits_alone = std::ranges::all_of(options_.functions, [](CompareFunction function) {
    return function == CompareFunction::kLogits;
  });
  // Nor does a mask that both sides round to infinity exceed an error bound.
  const bool masked = bound_ && MeasureMagnitudes(Elements(a_)).infinite_count > 0;
  request_.rule = {tolerances_.absolute, tolerances_.relative,
                   options_.infinities_compare_equal || logits_alone || masked, !options_.lenient,
                   !options_.lenient};
}

void PairMeasurement::AskForMetrics() {
  const bool strings = a_.dtype() == DType::kString;
  for (const CompareFunction function : options_.functions) {
    const MetricRow* const metric = FindMetric(function);
    if (metric == nullptr) continue;
    if (metric->needs == MetricNeeds::kProducts) request_.products = !strings;
    if (metric->needs != MetricNeeds::kUlp) continue;
    request_.ulp = true;
    // Between integers the distance is the difference.
    if (IsInteger(a_.dtype())) Raise(request_.differences, StatisticsLevel::kMoments);
  }
}

void PairMeasurement::AskForDetail() {
  Raise(request_.sides, detail_.sides);
  if (detail_.output_statistics) Raise(request_.sides, StatisticsLevel::kRanks);
  if (!detail_.distances) return;
  request_.ulp = true;
  request_.products = a_.dtype() != DType::kString;
}

// On a device when both sides are there and only a mismatch would need their bytes.
void PairMeasurement::ChoosePlace() {
  const DeviceMeasure* const device = detail_.device;
  if (device == nullptr || (!device->Holds(a_) && !device->Holds(b_))) return;
  on_device_ = device->Holds(a_) && device->Holds(b_) && aligned() && steps_.empty() &&
               detail_.values != DetailLevel::kAlways && !detail_.distances &&
               !detail_.mismatch_places &&
               !(request_.products && AreLongIntegers(a_.dtype(), b_.dtype())) &&
               !((request_.products || request_.rule.exact_integers) &&
                 IsLongAgainstFloat(a_.dtype(), b_.dtype())) &&
               options_.check_error_stat.Lookup(name_, {}).empty() &&
               std::all_of(options_.functions.begin(), options_.functions.end(), NeedsOnlyTallies);
  if (!on_device_) {
    status_ = BringHere();
    return;
  }
  Raise(request_.sides, StatisticsLevel::kMoments);  // they show whether the sides are constant
}

Status PairMeasurement::BringHere() {
  on_device_ = false;
  VERNIER_TRY(detail_.device->Fetch(a_));
  return detail_.device->Fetch(b_);
}

Result<PairMeasures> PairMeasurement::MeasureOnDevice() {
  Result<PairMeasures> measures = detail_.device->Measure(a_, b_, request_);
  const bool whole = measures.ok() &&
                     (!request_.products || !NeedScale(a_.dtype(), b_.dtype(), measures->products));
  if (whole && measures->difference.mismatches == 0) return measures;
  const StatusCode code = measures.status().code();
  const bool is_copied =
      measures.ok() || code == StatusCode::kUnavailable || code == StatusCode::kUnimplemented;
  if (!is_copied) return measures;
  VERNIER_TRY(BringHere());
  // What overflows or underflows on the device is measured with more care here.
  if (whole && std::isfinite(measures->difference.worst_ratio)) return measures;
  return MeasurePair(Elements(a_), Elements(b_), request_, detail_.pool);
}

const PairMeasures* PairMeasurement::Measure() {
  if (measures_) return &*measures_;
  if (!status_.ok()) return nullptr;
  if (status_ = MeasureBound(); !status_.ok()) return nullptr;
  Result<PairMeasures> measures =
      on_device_ ? MeasureOnDevice()
                 : MeasurePair(Elements(a_), Elements(b_), request_, detail_.pool);
  if (!measures.ok()) {
    status_ = std::move(measures).status();
    return nullptr;
  }
  measures_ = *std::move(measures);
  return &*measures_;
}

MetricInput PairMeasurement::Input() const {
  const DeviceMeasure* const device = detail_.device;
  return {.a = a_,
          .b = b_,
          .measures = measures_ ? &*measures_ : nullptr,
          .perceptual = detail_.perceptual,
          .bytes_here = device == nullptr || (!device->Holds(a_) && !device->Holds(b_))};
}

void PairMeasurement::MeasureMismatch() {
  if (!aligned() || Measure() == nullptr) return;
  if (on_device_ && !BringHere().ok()) return;
  MeasureRequest wanted = request_;
  Raise(wanted.differences, StatisticsLevel::kMoments);
  Raise(wanted.sides, StatisticsLevel::kMoments);
  wanted.products = a_.dtype() != DType::kString;
  wanted.ulp = true;
  wanted.worst = static_cast<size_t>(std::max<int64_t>(options_.worst_elements, 0));
  const MeasureRequest lacking = Lacking(wanted, request_);
  if (!AsksForSomething(lacking)) return;
  Result<PairMeasures> more = MeasurePair(Elements(a_), Elements(b_), lacking, detail_.pool);
  // The first measurement of the same arrays succeeded.
  if (!more.ok()) return;
  Merge(*measures_, *std::move(more), lacking);
  request_ = std::move(wanted);
}

}  // namespace vernier
