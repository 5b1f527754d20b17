#include "run/figures/pair_recorder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "compare/functions/metric_table.h"
#include "compare/functions/vacuous.h"
#include "run/figures/logits_figures.h"
#include "run/figures/output_figures.h"
#include "run/figures/output_row.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::string_view PairedByName(PairedBy how) {
  switch (how) {
    case PairedBy::kExact:
      return "exact";
    case PairedBy::kFolded:
      return "folded";
    case PairedBy::kSubstring:
      return "substring";
    case PairedBy::kPosition:
      return "position";
    case PairedBy::kShape:
      return "shape";
    case PairedBy::kValue:
      return "value";
    case PairedBy::kMap:
      return "map";
    case PairedBy::kStructure:
      return "structure";
  }
  return "";
}

void AddNew(const std::vector<std::string>& names, std::vector<std::string>& list) {
  for (const std::string& name : names) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  }
}

// Outputs that no other function looked at.
std::vector<std::string> OnlyForLogits(const IterationComparison& comparison) {
  std::vector<std::string> names;
  for (const auto& [name, why] : comparison.not_logits) {
    const bool compared = std::any_of(comparison.outputs.begin(), comparison.outputs.end(),
                                      [&](const auto& output) { return output.a_name == name; });
    if (!compared) names.push_back(name);
  }
  return names;
}

// What --tolerance and its kind ask for is the same in every iteration.
void AddRules(const OutputComparison& output, OutputRecord& record) {
  const auto* data = output.FindData<SimpleResult>(CompareFunction::kSimple);
  if (data == nullptr) return;
  record.tolerances_checked = true;
  record.allowed_share = data->allowed_share;
  record.allowed_excess = data->allowed_excess;
}

// Of the first iteration in which they differ, else of the first.
void AddTypes(const OutputComparison& output, OutputRecord& record) {
  if (!record.dtype.empty() && output.a_dtype == output.b_dtype) return;
  if (record.dtype != record.other_dtype) return;
  record.dtype = DTypeName(output.a_dtype);
  record.other_dtype = DTypeName(output.b_dtype);
}

// How far the value is on the wrong side of the threshold: above 1 where it fails, and the more the
// worse it is.
double TimesOverThreshold(double value, double threshold, bool higher_is_better) {
  if (std::isnan(value)) return std::numeric_limits<double>::infinity();
  const double scale = threshold == 0 ? 1 : std::fabs(threshold);
  if (higher_is_better) return 1 + (threshold - value) / scale;
  return threshold > 0 ? value / threshold : 1 + (value - threshold) / scale;
}

// Of --compare logits, by the gate that is further over its threshold; 0 without logits.
double LogitsBadness(const OutputRow& row) {
  if (!row.logits) return 0;
  const LogitsRecord& logits = *row.logits;
  if (logits.nan + logits.infinite + logits.torn > 0) {
    return std::numeric_limits<double>::infinity();
  }
  return std::max(TimesOverThreshold(logits.kl_mean, logits.kl_threshold, false),
                  TimesOverThreshold(logits.top1_judged, logits.top1_threshold, true));
}

// Of the function that is furthest over its threshold.
double Badness(const OutputComparison& output, const OutputRow& row) {
  double worst = std::max(row.times_over_tolerance.value_or(0), LogitsBadness(row));
  for (const FunctionResult& result : output.functions) {
    const MetricRow* metric = FindMetric(result.function);
    const auto* data = std::get_if<MetricResult>(&result.data);
    if (metric == nullptr || data == nullptr) continue;
    worst =
        std::max(worst, TimesOverThreshold(data->value, data->threshold, metric->higher_is_better));
  }
  return worst;
}

// Keeps the numbers of the worst iteration: the first that failed, or a later one that is further
// out of tolerance.
void KeepWorst(const OutputComparison& output, const OutputRow& row, OutputRecord& record,
               double& kept_ratio, const std::function<OutputFigures()>& figures) {
  const bool first = record.figures.gates.empty();
  const bool failed_before = std::any_of(record.figures.gates.begin(), record.figures.gates.end(),
                                         [](const GateRecord& g) { return g.verdict != "passed"; });
  const bool fails = !output.passed();
  const double ratio = Badness(output, row);
  const bool worse = fails == failed_before ? ratio > kept_ratio : fails;
  if (!first && !worse) return;
  record.figures = figures();
  kept_ratio = ratio;
}

// A value that is no number is the worst.
bool IsWorseGate(const FunctionResult& result, const GateRecord& kept) {
  const MetricRow* metric = FindMetric(result.function);
  const auto* data = std::get_if<MetricResult>(&result.data);
  if (!kept.value || std::isnan(*kept.value)) return false;
  if (metric == nullptr || data == nullptr || std::isnan(data->value)) return true;
  return metric->higher_is_better ? data->value < *kept.value : data->value > *kept.value;
}

// `kept_logits` is the badness of the gate of --compare logits that is kept, which has no value.
void KeepFailedGates(const OutputComparison& output, const OutputRow& row, OutputRecord& record,
                     double& kept_logits) {
  for (const FunctionResult& result : output.functions) {
    if (result.passed() || result.verdict == Verdict::kNotVerified) continue;
    GateRecord gate = MakeGate(result);
    const auto kept = std::ranges::find(record.failed_gates, gate.function, &GateRecord::function);
    const bool is_logits = result.function == CompareFunction::kLogits;
    const double logits = is_logits ? LogitsBadness(row) : 0;
    if (kept == record.failed_gates.end()) {
      record.failed_gates.push_back(std::move(gate));
    } else if (is_logits ? logits > kept_logits : IsWorseGate(result, *kept)) {
      *kept = std::move(gate);
    }
    kept_logits = std::max(kept_logits, logits);
  }
}

// What a mask says beside `logits`, which count positions themselves.
void AddMasked(const MaskedPositions& masked, bool counted, TokensRecord& kept) {
  kept.mask = masked.mask;
  if (!counted) {
    kept.positions += masked.positions;
    kept.excluded += masked.excluded;
  }
  if (!masked.differ) return;
  if (masked.excluded > 0) {
    ++kept.excluded_differ;
  } else {
    ++kept.masked_failed;
    kept.masked_mismatches += masked.mismatches;
  }
}

}  // namespace

PairRecorder::PairRecorder(std::string first, std::string second, Charts charts) : charts_(charts) {
  record_.first = std::move(first);
  record_.second = std::move(second);
}

std::vector<OutputRow> PairRecorder::Add(const IterationComparison& comparison, int64_t index) {
  std::vector<OutputRow> rows;
  rows.reserve(comparison.outputs.size());
  for (const OutputComparison& output : comparison.outputs) rows.push_back(MakeOutputRow(output));
  if (charts_ == Charts::kWanted) errors_.Add(comparison);
  Fold(comparison, rows, index,
       [&](size_t place) { return MakeFigures(comparison.outputs[place], index, charts_); });
  return rows;
}

void PairRecorder::Fold(const IterationComparison& comparison, std::span<const OutputRow> rows,
                        int64_t index, const FiguresOf& figures_of) {
  tally_.Add(comparison);
  AddNew(comparison.pairing.left_only, record_.only_in_first);
  AddNew(comparison.pairing.right_only, record_.only_in_second);
  if (one_sided_since_ < 0 && one_sided()) one_sided_since_ = index;
  AddNew(comparison.without_verdict, record_.without_verdict);
  AddNew(OnlyForLogits(comparison), record_.not_logits);
  compared_nothing_ |= !comparison.compared_something();
  empty_iterations_ += comparison.empty() ? 1 : 0;
  // There may be thousands of two kilobytes each.
  record_.outputs.reserve(comparison.outputs.size());
  for (size_t place = 0; place < comparison.outputs.size(); ++place) {
    AddOutput(comparison.outputs[place], rows[place], index, [&] { return figures_of(place); });
  }
}

void PairRecorder::AddOutput(const OutputComparison& output, const OutputRow& row,
                             int64_t iteration, const std::function<OutputFigures()>& figures) {
  const size_t index = PlaceOf(output.a_name);
  if (index == record_.outputs.size()) {
    OutputRecord& made = record_.outputs.emplace_back();
    made.name = output.a_name;
    made.other_name = output.b_name;
    made.paired_by = PairedByName(output.how);
  }
  OutputRecord& found = record_.outputs[index];
  AddTypes(output, found);
  AddRules(output, found);
  FoldRow(row, found);
  kept_ratios_.resize(record_.outputs.size());
  kept_logits_.resize(record_.outputs.size());
  quantiles_.resize(record_.outputs.size());
  gates_.resize(record_.outputs.size());
  shown_.resize(record_.outputs.size());
  quantiles_[index].Add(output, row);
  gates_[index].Add(output, row, iteration);
  // A single element is never called constant, and may be one all the same.
  if (output.vacuous.empty() && row.elements.value_or(0) > 1 && row.verdict != "not verified") {
    shown_[index] = true;
  }
  AddLogits(output, index);
  KeepFailedGates(output, row, found, kept_logits_[index]);
  KeepWorst(output, row, found, kept_ratios_[index], figures);
}

// Over all iterations, unlike OutputFigures::logits.
void PairRecorder::AddLogits(const OutputComparison& output, size_t index) {
  losses_.resize(record_.outputs.size());
  logits_totals_.resize(record_.outputs.size());
  whole_positions_.resize(record_.outputs.size());
  const auto* const logits = output.FindData<LogitsResult>(CompareFunction::kLogits);
  if (logits != nullptr) {
    logits_totals_[index].Add(logits->measures);
    record_.outputs[index].logits_total = logits_totals_[index].Get();
  }
  std::optional<TokensRecord>& kept = record_.outputs[index].tokens;
  const bool judged =
      logits != nullptr && !(logits->tokens.tokens.empty() && logits->tokens.mask.empty());
  if (judged) {
    const TokensRecord before = kept.value_or(TokensRecord());
    losses_[index].Append(logits->measures.tokens);
    kept = MakeTokensRecord(losses_[index]);
    kept->source = logits->tokens.tokens.empty() ? before.source : logits->tokens.tokens;
    kept->mask = logits->tokens.mask.empty() ? before.mask : logits->tokens.mask;
    kept->positions = before.positions + logits->measures.positions;
    kept->excluded = before.excluded + logits->measures.excluded;
    kept->excluded_differ = before.excluded_differ;
    kept->masked_failed = before.masked_failed;
    kept->masked_mismatches = before.masked_mismatches;
  }
  if (!output.masked) return;
  if (output.masked->excluded == 0 && !output.masked->differ) {
    if (!judged) whole_positions_[index] += output.masked->positions;
    return;
  }
  if (!kept) kept = MakeTokensRecord(losses_[index]);
  AddMasked(*output.masked, judged, *kept);
}

size_t PairRecorder::PlaceOf(std::string_view output) const {
  const auto found = std::ranges::find(record_.outputs, output, &OutputRecord::name);
  return static_cast<size_t>(found - record_.outputs.begin());
}

int64_t PairRecorder::WholePositions(std::string_view output) const {
  const size_t place = PlaceOf(output);
  return place < whole_positions_.size() ? whole_positions_[place] : 0;
}

const LogitsTotalGate* PairRecorder::LogitsGateOf(std::string_view output) const {
  const size_t place = PlaceOf(output);
  return place < gates_.size() ? &gates_[place] : nullptr;
}

bool PairRecorder::IsShown(const OutputTally& tally) const {
  const size_t place = PlaceOf(tally.name);
  return IsOfValues(tally.vacuous_why) && place < shown_.size() && shown_[place];
}

void PairRecorder::NoteFirstStep(const IterationComparison& comparison) {
  first_steps_.resize(record_.outputs.size());
  for (const OutputComparison& output : comparison.outputs) {
    const bool shows_nothing = output.passed() && !output.vacuous.empty();
    first_steps_[PlaceOf(output.a_name)] += shows_nothing ? 1 : 0;
  }
}

std::string PairRecorder::ShowsNothingIn(std::string_view output) const {
  const auto tally = std::ranges::find(tally_.outputs(), output, &OutputTally::name);
  if (tally == tally_.outputs().end() || !IsShown(*tally)) return "";
  const size_t place = PlaceOf(output);
  const int64_t first_steps = place < first_steps_.size() ? first_steps_[place] : 0;
  if (tally->vacuous <= first_steps) return "";
  return "in " + CountedOf(tally->vacuous, tally->iterations, "iteration") + " (" +
         tally->vacuous_why + ")";
}

PairRecord PairRecorder::Finish(int64_t expected_iterations) const {
  PairRecord record = record_;
  // Polygraphy passes what agrees because it is empty.
  record.compared_iterations = tally_.iterations() - empty_iterations_;
  record.passed_iterations = tally_.passed_iterations();
  record.expected_iterations = expected_iterations;
  for (size_t i = 0; i < quantiles_.size(); ++i) {
    record.outputs[i].quantiles = quantiles_[i].Quantiles();
    std::optional<TokensRecord>& tokens = record.outputs[i].tokens;
    if (tokens && tokens->excluded > 0) tokens->positions += whole_positions_[i];
  }
  for (const OutputTally& tally : tally_.outputs()) {
    const size_t place = PlaceOf(tally.name);
    if (place == record.outputs.size()) continue;
    record.outputs[place].vacuous = IsShown(tally) ? "" : tally.vacuous_why;
  }
  return record;
}

}  // namespace vernier
