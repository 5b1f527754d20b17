#include "decide/gates/decision_gates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "decide/figures/intervals.h"
#include "decide/labels/label_fold.h"
#include "decide/labels/label_scores.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

// The gate of a rate. The interval contains the limit where that lies between its ends; a limit of
// 0 or 1 is decided by the count alone.
DecisionGateRecord JudgeRate(const DecisionRecord& decision, double limit) {
  DecisionGateRecord gate{"--max-flip-rate", decision.output, decision.kind, 0, limit, "", false};
  if (decision.samples == 0) {
    gate.value = std::numeric_limits<double>::quiet_NaN();
    gate.verdict = "no samples";
    return gate;
  }
  gate.value = static_cast<double>(decision.flips) / static_cast<double>(decision.samples);
  gate.verdict = gate.value <= limit ? "passed" : "failed";
  const auto [low, high] = WilsonInterval(decision.flips, decision.samples);
  gate.undecided = low < limit && limit < high;
  const int64_t enough = SamplesToDecide(gate.value, limit);
  if (gate.undecided && enough > 0) gate.samples_to_decide = enough;
  return gate;
}

// A mean's interval shrinks with the root of the samples.
std::optional<int64_t> SamplesForMean(std::pair<double, double> interval, double distance,
                                      int64_t samples) {
  const double times = (interval.second - interval.first) / 2 / distance;
  const double enough = std::ceil(times * times * static_cast<double>(samples));
  if (!(enough < 0x1p62)) return std::nullopt;
  return std::max(static_cast<int64_t>(enough), samples + 1);
}

// What is 0 cannot drop: that the candidate is not worse shows nothing.
DecisionGateRecord WithoutReference(DecisionGateRecord gate, double drop) {
  if (gate.drop_type == "absolute") gate.value = drop;
  return gate;
}

// The last that names the decision wins, then the last that the output is a part of.
std::optional<double> RateLimitFor(const DecisionOptions& options, const DecisionRecord& decision) {
  const auto& entries = options.max_flip_rate.entries;
  const std::optional<double> named =
      NarrowestLimit(options.max_flip_rate, decision.output, decision.kind);
  if (named) return named;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (NamesRate(entry->first, decision.output, decision.kind)) return entry->second;
  }
  return options.max_flip_rate.fallback;
}

// A single image has none.
std::pair<double, double> DropIntervalOf(const PrecisionRecord& precision) {
  if (!precision.intervals) return {0, 0};
  return {precision.intervals->drop_low, precision.intervals->drop_high};
}

// With a limit of 0, accuracies that differ in no sample are decided by the count, as a rate of 0
// is.
bool IsSame(const LabelRecord& labels, double limit) {
  return limit == 0 && labels.right_to_wrong + labels.wrong_to_right == 0;
}

/// A drop by the bootstrap. Its interval has no width where the samples do not differ in it, as a
/// single one cannot.
struct BootstrappedDrop {
  double drop = 0;
  std::pair<double, double> interval = {0, 0};
  int64_t samples = 0;
  bool is_score = true;  ///< a sample drops by 1 at most
};

// Samples that are alike prove nothing of others, whose share is up to Wilson's upper end: as for
// accuracies that no sample tells apart.
void JudgeAlike(const BootstrappedDrop& drop, double limit, DecisionGateRecord& gate) {
  if (limit == 0 && drop.drop == 0) return;  // by the count
  const double apart = std::fabs(drop.drop - limit);
  const bool few =
      drop.is_score ? apart < WilsonInterval(0, drop.samples).second : drop.samples == 1;
  if (!few) return;
  gate.undecided = true;
  gate.doubtful_by = "the samples are too few, or too much alike, for an interval";
  const int64_t enough = drop.is_score ? SamplesToDecide(0, apart) : 0;
  if (enough > 0) gate.samples_to_decide = enough;
}

void JudgeBootstrapped(const BootstrappedDrop& drop, double limit, DecisionGateRecord& gate) {
  const auto [low, high] = drop.interval;
  if (!(low < high)) return JudgeAlike(drop, limit, gate);
  gate.undecided = low < limit && limit < high;
  if (!gate.undecided) return;
  gate.samples_to_decide = SamplesForMean(drop.interval, drop.drop - limit, drop.samples);
}

// What is no more than the drop that is allowed passes whatever the candidate answers. A limit of
// all says that it is no gate.
bool IsWithinLimit(double reference, double most, DecisionGateRecord& gate) {
  if (reference > most || gate.limit >= 1) return false;
  gate.verdict = "passed";
  gate.undecided = true;
  gate.doubtful_by = "the reference scores no more than the drop that is allowed";
  return true;
}

// The gate has its limit.
DecisionGateRecord JudgePrecision(const PrecisionRecord& precision, DecisionGateRecord gate) {
  const bool relative = gate.drop_type == "relative";
  const double reference = precision.first.ap, drop = reference - precision.second.ap;
  if (std::isnan(drop)) return gate;
  if (reference == 0) return WithoutReference(std::move(gate), drop);
  const double most = relative ? gate.limit * reference : gate.limit;
  gate.value = relative ? drop / reference : drop;
  if (IsWithinLimit(reference, most, gate)) return gate;
  gate.verdict = gate.value <= gate.limit ? "passed" : "failed";
  JudgeBootstrapped({drop, DropIntervalOf(precision), precision.images}, most, gate);
  return gate;
}

// A relative drop is compared with its fraction of the reference's value, as that was measured.
DecisionGateRecord JudgeDrop(const DecisionRecord& decision, double limit, DropType type) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const bool relative = type == DropType::kRelative;
  DecisionGateRecord gate{"--max-drop", decision.output, decision.kind, kNone, limit, "", false};
  gate.drop_type = relative ? "relative" : "absolute";
  gate.verdict = "no samples";
  if (decision.precision) return JudgePrecision(*decision.precision, std::move(gate));
  if (!decision.labels || decision.labels->samples == 0) return gate;
  const LabelRecord& labels = *decision.labels;
  if (IsError(labels)) {
    gate.drop_type = relative ? "relative rise" : "rise";
    if (relative && labels.first == 0) return gate;
  } else if (labels.first == 0) {
    return WithoutReference(std::move(gate), labels.drop);
  }
  const double most = relative ? limit * labels.first : limit;
  gate.value = relative ? labels.drop / labels.first : labels.drop;
  if (!IsError(labels) && IsWithinLimit(labels.first, most, gate)) return gate;
  gate.verdict = labels.drop <= most ? "passed" : "failed";
  if (IsMeanScore(labels)) {
    JudgeBootstrapped(
        {labels.drop, {labels.drop_low, labels.drop_high}, labels.samples, !IsError(labels)}, most,
        gate);
    return gate;
  }
  gate.undecided = labels.drop_low < most && most < labels.drop_high && !IsSame(labels, most);
  if (!gate.undecided) return gate;
  const int64_t enough = SamplesToDecideDrop(CountsOf(labels), most);
  if (enough > 0) gate.samples_to_decide = enough;
  return gate;
}

DecisionGateRecord JudgeClearFlips(const DecisionRecord& decision, int64_t most,
                                   std::optional<double> near_tie) {
  DecisionGateRecord gate{
      "--max-clear-flips", decision.output, decision.kind, 0, static_cast<double>(most), "", false};
  gate.value = static_cast<double>(decision.clear_flips);
  gate.verdict = decision.clear_flips <= most ? "passed" : "failed";
  if (decision.samples == 0) gate.verdict = "no samples";
  const int64_t doubtful = near_tie ? 0 : decision.doubtful_near_ties;
  const int64_t doubtful_clear = near_tie ? 0 : decision.doubtful_clear;
  const bool passed = gate.verdict == "passed", failed = gate.verdict == "failed";
  gate.undecided = (passed && decision.clear_flips + doubtful > most) ||
                   (failed && decision.clear_flips - doubtful_clear <= most);
  if (gate.undecided) gate.doubtful_by = passed ? decision.doubtful_by : decision.clear_by;
  return gate;
}

}  // namespace

bool NamesRate(std::string_view name, std::string_view output, std::string_view kind) {
  return NamesMetric(name, output, kind) || (!name.empty() && IsPartOf(output, name));
}

std::vector<DecisionGateRecord> JudgeDecision(const DecisionRecord& decision,
                                              const DecisionOptions& options) {
  std::vector<DecisionGateRecord> gates;
  const std::optional<double> rate = RateLimitFor(options, decision);
  if (rate) gates.push_back(JudgeRate(decision, *rate));
  if (options.max_clear_flips) {
    gates.push_back(JudgeClearFlips(decision, *options.max_clear_flips, options.near_tie));
  }
  const std::optional<double> drop = DropLimitFor(options, decision.output, decision.kind);
  const Result<DecisionPlan> plan = ParseDecision(decision.kind);
  const bool wanted = plan.ok() && LabelsFor(options, plan->kind, decision.output) != nullptr;
  if (drop && (decision.labels || wanted)) {
    gates.push_back(JudgeDrop(decision, *drop, options.drop_type));
  }
  return gates;
}

}  // namespace vernier
