#include "compare/functions/comparator.h"

#include <algorithm>
#include <utility>

#include "compare/functions/indices.h"
#include "compare/functions/logits.h"
#include "compare/functions/measurement.h"
#include "compare/functions/simple.h"
#include "compare/functions/vacuous.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

Result<double> ComputeMetric(const MetricRow& metric, PairMeasurement& pair) {
  const bool measured = metric.needs == MetricNeeds::kElements || pair.Measure() != nullptr;
  if (!measured) return pair.status();
  if (metric.needs == MetricNeeds::kProducts && pair.a().dtype() == DType::kString) {
    return Unavailable("strings have no " + std::string(metric.label) +
                       "; --compare simple says whether they are equal");
  }
  return metric.value(pair.Input());
}

// Judges a pair whose shapes are aligned. Differences of small floats are float32 operations as
// Polygraphy's; everything else, sums included, is float64, so that integers do not overflow. PSNR
// and SNR take A as the signal, the KL divergence as the distribution that is expected. Empty
// tensors: l2, rmse, relative_l2 and ulp 0, cosine 1; PSNR and SNR NaN, which fails with a reason.
// A metric that does not apply to the pair (none but `simple` does to strings), or cannot be
// computed here, is kNotVerified with the reason.
FunctionResult JudgeMetric(CompareFunction function, PairMeasurement& pair) {
  const MetricRow& row = *FindMetric(function);
  FunctionResult result;
  const Result<double> value = ComputeMetric(row, pair);
  if (!value.ok()) {
    const bool unavailable = value.status().code() == StatusCode::kUnavailable;
    result.verdict = unavailable ? Verdict::kNotVerified : Verdict::kFailed;
    result.why = value.status().message();
    return result;
  }
  const MetricResult metric{*value, row.Threshold(pair.name(), pair.options())};
  if (!row.Passes(metric.value, metric.threshold)) result.verdict = Verdict::kMismatched;
  if (result.verdict == Verdict::kMismatched && pair.a().element_count() == 0) {
    result.why = "empty outputs have no " + std::string(row.label);
  }
  result.data = metric;
  return result;
}

FunctionResult RunAligned(CompareFunction function, PairMeasurement& pair) {
  FunctionResult result;
  if (pair.shapes_differ()) {
    result.verdict = Verdict::kMismatched;
    result.shapes_differ = true;
    return result;
  }
  if (!pair.refusal().empty()) {
    result.verdict = Verdict::kFailed;
    result.why = pair.refusal();
  } else if (function == CompareFunction::kLogits) {
    result = JudgeLogits(pair);
  } else if (pair.all_masked()) {
    result.verdict = Verdict::kNotVerified;
    result.why = "'" + pair.kept()->masked.mask + "' excludes every position";
  } else if (function == CompareFunction::kSimple) {
    result = JudgeSimple(pair);
  } else {
    result = JudgeMetric(function, pair);
  }
  result.shape_steps = pair.shape_steps();
  return result;
}

/// One pair of outputs on its way through the functions.
class PairInProgress {
 public:
  PairInProgress(const NamedTensor& a, const NamedTensor& b, const CompareOptions& options,
                 const ComparisonDetail& detail)
      : b_(b), measurement_(a, b, options, detail) {
    comparison_.a_name = a.name;
    comparison_.b_name = b.name;
    comparison_.a_dtype = a.tensor.dtype();
    comparison_.b_dtype = b.tensor.dtype();
    comparison_.a_dims = a.tensor.dims();
    comparison_.b_dims = b.tensor.dims();
    comparison_.a = a.tensor;
    comparison_.b = b.tensor;
    comparison_.aligned_b = measurement_.whole_b();
    if (measurement_.kept()) comparison_.masked = measurement_.kept()->masked;
    if (!measurement_.on_device() && !measurement_.all_masked()) {
      comparison_.vacuous = VacuousOfSides(b.tensor);
    }
    if (comparison_.vacuous.empty()) comparison_.vacuous = VacuousBecauseNothing(a, b);
  }

  void set_how(PairedBy how) { comparison_.how = how; }
  bool untouched() const { return comparison_.functions.empty(); }
  const std::string& name() const { return comparison_.a_name; }

  /// Why the function is not for this output; empty: it is.
  std::string WhyNotFor(CompareFunction function) const {
    if (function != CompareFunction::kLogits) return "";
    return WhyNotLogits(comparison_.a_name, comparison_.a, b_.tensor, measurement_.options());
  }

  bool Run(CompareFunction function) {
    FunctionResult result =
        function == CompareFunction::kIndices
            ? CompareIndices(comparison_.a_name, comparison_.a, b_.tensor, measurement_.options())
            : RunAligned(function, measurement_);
    result.function = function;
    if (measurement_.on_device() && measurement_.measures()) {
      comparison_.vacuous = VacuousBecauseConstant(*measurement_.measures());
    }
    const std::string why =
        comparison_.vacuous.empty() ? VacuousBecause(result) : comparison_.vacuous;
    if (result.verdict == Verdict::kMatched && !why.empty()) {
      result.verdict = Verdict::kVacuous;
      result.why = why;
    }
    comparison_.functions.push_back(std::move(result));
    return comparison_.functions.back().passed();
  }

  /// After the last function: what is reported of outputs beside verdicts.
  OutputComparison Finish() {
    if (measurement_.all_masked()) return std::move(comparison_);
    if (!comparison_.passed()) {
      measurement_.MeasureMismatch();
      for (FunctionResult& result : comparison_.functions) UpdateSimple(result, measurement_);
    } else if (measurement_.aligned() && WantsMeasures(measurement_.detail())) {
      measurement_.Measure();
    }
    if (measurement_.measures()) ComputeRecordedMetrics();
    comparison_.measures = std::move(measurement_.measures());
    comparison_.measured = measurement_.measured();
    const std::string all_nan = comparison_.measures ? VacuousBecause(*comparison_.measures) : "";
    if (!all_nan.empty()) comparison_.vacuous = all_nan;
    NoteAllVacuous();
    RestoreMaskedPlaces();
    CompareOthers();
    return std::move(comparison_);
  }

 private:
  // Where a mask leaves out positions, the others alone have to show something.
  std::string VacuousOfSides(const Tensor& b) const {
    const bool leaves_out = comparison_.masked && comparison_.masked->excluded > 0;
    if (leaves_out) return VacuousBecause(measurement_.a(), measurement_.b());
    return VacuousBecause(comparison_.a, b);
  }

  // The positions where the mask is 0, as an output of their own.
  void CompareOthers() {
    const bool fits = comparison_.masked && !measurement_.kept()->others.empty();
    if (!fits || (comparison_.masked->excluded == 0 && comparison_.passed())) return;
    CompareOptions options = measurement_.options();
    const bool by_values = std::ranges::any_of(options.functions, [](CompareFunction function) {
      return function != CompareFunction::kLogits && function != CompareFunction::kIndices;
    });
    if (!by_values && comparison_.masked->excluded == 0) return;
    std::erase_if(options.functions, [&](CompareFunction function) {
      return function == CompareFunction::kIndices ||
             (by_values && function == CompareFunction::kLogits);
    });
    if (options.functions.empty()) return;
    options.logits_axis = {};  // these positions are rows of classes
    const Result<std::pair<Tensor, Tensor>> sides = measurement_.Others();
    if (!sides.ok()) return;
    ComparisonDetail detail;
    detail.pool = measurement_.detail().pool;
    detail.bounds = measurement_.detail().bounds;
    const OutputComparison others = CompareOutputs(
        {comparison_.a_name, sides->first}, {comparison_.b_name, sides->second}, options, detail);
    comparison_.masked->differ = !others.passed() && !others.only_not_verified();
    const auto* const data = others.FindData<SimpleResult>(CompareFunction::kSimple);
    if (data != nullptr) comparison_.masked->mismatches = data->difference.mismatches;
  }

  void RestoreMaskedPlaces() {
    if (!comparison_.masked || comparison_.masked->excluded == 0) return;
    const KeptPositions& kept = *measurement_.kept();
    if (comparison_.measures) RestorePlaces(kept, *comparison_.measures);
    for (FunctionResult& result : comparison_.functions) {
      auto* const simple = std::get_if<SimpleResult>(&result.data);
      if (simple == nullptr) continue;
      RestorePlaces(kept, simple->difference);
      for (int64_t& place : simple->mismatch_places) place = kept.PlaceInWhole(place);
    }
  }

  static bool WantsMeasures(const ComparisonDetail& detail) {
    return detail.distances || detail.sides != StatisticsLevel::kNone || detail.output_statistics;
  }

  // One function that shows something is enough.
  void NoteAllVacuous() {
    const auto& functions = comparison_.functions;
    const bool all = std::all_of(functions.begin(), functions.end(), [](const auto& result) {
      return result.verdict == Verdict::kVacuous;
    });
    if (all && !functions.empty() && comparison_.vacuous.empty()) {
      comparison_.vacuous = functions.front().why;
    }
  }

  void ComputeRecordedMetrics() {
    const MetricInput pair = measurement_.Input();
    for (const MetricRow& row : MetricTable()) {
      const bool wanted = row.needs == MetricNeeds::kProducts ? measurement_.measured().products
                                                              : measurement_.detail().distances;
      if (!wanted || row.recorded == nullptr || !row.recorded(pair)) continue;
      const Result<double> value = row.value(pair);
      if (value.ok()) comparison_.metrics[row.function] = *value;
    }
  }

  const NamedTensor& b_;
  PairMeasurement measurement_;
  OutputComparison comparison_;
};

// Python's min and max, which keep the first argument when the second is NaN.
HistogramRange SharedRange(const ValueStatistics& a, const ValueStatistics& b) {
  return {b.min < a.min ? b.min : a.min, b.max > a.max ? b.max : a.max, true};
}

// Polygraphy knows only A's name for results that are bare booleans, and looks B's output up by it.
const NamedTensor* StatisticsPartner(const OutputComparison& output, const IterationResult& b,
                                     const CompareOptions& options) {
  const FunctionResult& first = output.functions.front();
  const bool bare = first.shapes_differ || first.function == CompareFunction::kIndices;
  const std::string& name = bare && options.lenient ? output.a_name : output.b_name;
  for (const NamedTensor& entry : b.outputs) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::vector<std::string> Names(const TensorMap& map) {
  std::vector<std::string> names;
  for (const NamedTensor& entry : map) names.push_back(entry.name);
  return names;
}

OutputStatistics Describe(std::string name, const Tensor& tensor, ThreadPool* pool) {
  return {std::move(name),
          tensor,
          MeasureValues(Elements(tensor), StatisticsLevel::kRanks, PrintedQuantiles(), pool),
          {}};
}

// The statistics of both sides: from the pass over the pair where it saw these very arrays.
OutputStatisticsPair StatisticsOf(const OutputComparison& output, const NamedTensor& partner,
                                  ThreadPool* pool) {
  OutputStatisticsPair pair;
  pair.passed = output.passed();
  const bool measured = output.measures && output.measured.sides == StatisticsLevel::kRanks;
  if (measured) {
    pair.a = {output.a_name, output.a, output.measures->a, {}};
  } else {
    pair.a = Describe(output.a_name, output.a, pool);
  }
  // A transposed side has its extrema elsewhere.
  const bool same = measured && partner.tensor.bytes().data() == output.aligned_b.bytes().data();
  if (same) {
    pair.b = {partner.name, partner.tensor, output.measures->b, {}};
  } else {
    pair.b = Describe(partner.name, partner.tensor, pool);
  }
  return pair;
}

}  // namespace

OutputComparison CompareOutputs(const NamedTensor& a, const NamedTensor& b,
                                const CompareOptions& options, const ComparisonDetail& detail) {
  PairInProgress pair(a, b, options, detail);
  for (const CompareFunction function : options.functions) pair.Run(function);
  return pair.Finish();
}

IterationComparison CompareIteration(const IterationResult& a, const IterationResult& b,
                                     const CompareOptions& options, const ComparisonDetail& detail,
                                     PairingRule rule) {
  return CompareIteration(a, b, options, detail, PairOutputs(a.outputs, b.outputs, rule));
}

IterationComparison CompareIteration(const IterationResult& a, const IterationResult& b,
                                     const CompareOptions& options, const ComparisonDetail& detail,
                                     Pairing pairing) {
  IterationComparison out;
  out.a_runner = a.runner_name;
  out.b_runner = b.runner_name;
  out.a_outputs = Names(a.outputs);
  out.b_outputs = Names(b.outputs);
  out.pairing = std::move(pairing);
  std::vector<PairInProgress> pairs;
  pairs.reserve(out.pairing.pairs.size());
  for (const OutputPair& pair : out.pairing.pairs) {
    pairs.emplace_back(a.outputs[pair.a], b.outputs[pair.b], options, detail);
    pairs.back().set_how(pair.how);
  }
  for (const CompareFunction function : options.functions) {
    for (PairInProgress& pair : pairs) {
      if (std::string why = pair.WhyNotFor(function); !why.empty()) {
        out.not_logits.emplace_back(pair.name(), std::move(why));
        continue;
      }
      if (detail.Interrupted() || (!pair.Run(function) && options.fail_fast)) break;
    }
  }
  out.outputs.reserve(pairs.size());
  for (PairInProgress& pair : pairs) {
    if (detail.Interrupted()) return out;
    if (!pair.untouched()) out.outputs.push_back(pair.Finish());
  }
  if (detail.output_statistics) AddOutputStatistics(out, b, options, detail);
  return out;
}

void AddOutputStatistics(IterationComparison& out, const IterationResult& b,
                         const CompareOptions& options, const ComparisonDetail& detail) {
  out.statistics.reserve(out.outputs.size());
  for (const OutputComparison& output : out.outputs) {
    if (detail.Interrupted()) return;
    // Only what the first function looked at.
    if (output.functions.front().function != options.functions.front()) continue;
    const NamedTensor* partner = StatisticsPartner(output, b, options);
    if (partner == nullptr) continue;
    // A side whose bytes never arrived has no statistics.
    const auto held = [&](const Tensor& t) { return detail.device && detail.device->Holds(t); };
    if (!output.measures && (held(output.a) || held(partner->tensor))) continue;
    OutputStatisticsPair pair = StatisticsOf(output, *partner, detail.pool);
    if (WantsDetail(detail.values, pair.passed)) {
      const HistogramRange range = SharedRange(pair.a.statistics, pair.b.statistics);
      pair.a.histogram = ComputeHistogram(Elements(pair.a.tensor), range, detail.pool);
      pair.b.histogram = ComputeHistogram(Elements(pair.b.tensor), range, detail.pool);
    }
    out.statistics.push_back(std::move(pair));
  }
}

OutputStatistics DescribeOutput(std::string name, const Tensor& tensor, bool with_histogram,
                                const std::optional<HistogramRange>& range) {
  OutputStatistics out = Describe(std::move(name), tensor, nullptr);
  if (!with_histogram) return out;
  const ValueStatistics& s = out.statistics;
  const HistogramRange own =
      s.count == 0 ? HistogramRange{0, 1, false} : HistogramRange{s.min, s.max, false};
  out.histogram = ComputeHistogram(Elements(tensor), range.value_or(own));
  return out;
}

}  // namespace vernier
