#include "decide/decision_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "decide/intervals.h"
#include "decide/label_scores.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

constexpr size_t kMarginBins = 20;

// Clear flips before near ties, those in which one side is invalid between them, larger margins
// first; without margins the least similar first. What is invalid on both sides shows least.
bool IsWorse(const DecisionSample& x, const DecisionSample& y) {
  const auto rank = [](const DecisionSample& sample) {
    if (IsInvalidOnBothSides(sample)) return 3;
    if (sample.flip == Flip::kInvalid) return 1;
    return sample.flip == Flip::kClear ? 0 : 2;
  };
  const auto margin = [](const DecisionSample& sample) {
    return std::isnan(sample.first_margin) ? -1 : sample.first_margin;
  };
  if (rank(x) != rank(y)) return rank(x) < rank(y);
  if (margin(x) != margin(y)) return margin(x) > margin(y);
  return x.similarity < y.similarity;
}

// Halves the number of bins in use, and so doubles their width.
void Widen(std::vector<int64_t>& bins) {
  for (size_t i = 0; i < kMarginBins; ++i) {
    bins[i] = i < kMarginBins / 2 ? bins[2 * i] + bins[2 * i + 1] : 0;
  }
}

// What is wider than all bins is in the last.
size_t BinOf(double value, double most) {
  if (!(value > 0) || most == 0) return 0;
  const double place = value / most * static_cast<double>(kMarginBins);
  return static_cast<size_t>(std::min(place, static_cast<double>(kMarginBins - 1)));
}

void CountMargin(const DecisionSample& sample, DecisionRecord& record) {
  const double margin = sample.first_margin;
  constexpr double kBeyond = std::numeric_limits<double>::max() / 4;
  if (!(margin >= 0) || margin > kBeyond) return;
  if (record.margin_most == 0 && margin > 0) {
    int exponent = 0;
    std::frexp(margin, &exponent);
    record.margin_most = std::ldexp(1.0, exponent);
  }
  while (margin > record.margin_most) {
    Widen(record.margin_counts);
    Widen(record.margin_flips);
    record.margin_most *= 2;
  }
  const size_t bin = BinOf(margin, record.margin_most);
  ++record.margin_counts[bin];
  if (sample.flip != Flip::kNone) ++record.margin_flips[bin];
}

void CountFlip(const DecisionSample& sample, DecisionRecord& record) {
  ++record.samples;
  if (sample.flip == Flip::kNone) return;
  ++record.flips;
  if (sample.flip == Flip::kNearTie) {
    ++record.near_ties;
    return;
  }
  ++record.clear_flips;
  if (sample.flip == Flip::kInvalid) ++record.invalid;
}

// What samples of a kind may lack on both sides without having been decided otherwise; empty of
// kinds whose samples always have something.
std::string_view LookedFor(std::string_view kind) {
  if (kind.starts_with("boxes")) return "detection";
  if (kind.starts_with("ctc")) return "symbol";
  return kind.starts_with("threshold") ? "label" : "";
}

// Kinds whose DecisionSample::all_above means a threshold; of others it means equal values.
bool HasBorder(std::string_view kind) { return kind == "sign" || kind.starts_with("threshold"); }

// By the texts that the kinds of LookedFor give.
bool HasNothing(const DecisionSample& sample) {
  const auto none = [](const std::string& text) { return text == "none" || text == "no"; };
  return none(sample.first) && none(sample.second);
}

// A text of threshold or sign about a single value.
bool IsOneSide(const std::string& text) {
  return text == "yes" || text == "no" || text == "+" || text == "-" || text == "invalid";
}

// Of a set the K-th value has many neighbours in its noise: that most sets differ says nothing.
bool IsTop1(std::string_view kind) { return kind == "top1" || kind.starts_with("top1,"); }

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

DecisionFold::DecisionFold(std::string output, std::string kind, int64_t keep_worst,
                           LabelChange change)
    : labels_(kind),
      change_(change),
      keep_worst_(static_cast<size_t>(std::max<int64_t>(keep_worst, 0))) {
  record_.output = std::move(output);
  record_.kind = std::move(kind);
  record_.margin_counts.resize(kMarginBins);
  record_.margin_flips.resize(kMarginBins);
}

void DecisionFold::Add(int64_t iteration, int64_t step,
                       const std::vector<DecisionSample>& samples) {
  std::vector<WorstFlip>& worst = record_.worst;
  const auto is_worse = [](const DecisionSample& x, const WorstFlip& y) {
    return IsWorse(x, y.sample);
  };
  for (size_t row = 0; row < samples.size(); ++row) {
    const DecisionSample& sample = samples[row];
    CountFlip(sample, record_);
    CountMargin(sample, record_);
    limits_.Add(sample);
    labels_.Add(sample);
    totals_.Add(sample);
    answers_.Add(sample);
    similarity_sum_ += sample.similarity;
    if (sample.negative_boxes > 0) {
      record_.negative_boxes = record_.negative_boxes.value_or(0) + sample.negative_boxes;
    }
    if (HasNothing(sample)) ++without_any_;
    if (sample.all_above) ++all_above_;
    any_map_ |= IsMapText(sample.first);
    any_list_ |= !IsOneSide(sample.first);
    if (sample.first_margin == 0) ++without_margin_;
    if (sample.flip == Flip::kNone) continue;
    const FlipPlace place{iteration, step, {}, static_cast<int64_t>(row)};
    if (!record_.first_flip) record_.first_flip = place;
    if (keep_worst_ == 0) continue;
    if (worst.size() == keep_worst_ && !is_worse(sample, worst.back())) continue;
    if (worst.size() == keep_worst_) worst.pop_back();
    worst.insert(std::upper_bound(worst.begin(), worst.end(), sample, is_worse),
                 WorstFlip{place, sample, static_cast<int64_t>(samples.size())});
  }
}

// What the samples of the run say together about which flips are clear.
void DecisionFold::TellByRun(bool one_margin, bool between_two, DecisionRecord& record) const {
  const DoubtfulTies doubtful = limits_.Doubtful(one_margin, between_two);
  record.doubtful_near_ties = doubtful.count;
  record.doubtful_by = doubtful.by;
  const int64_t more = (between_two ? limits_.clear_by_most() : 0) - limits_.near_by_moves();
  record.clear_flips += more;
  record.near_ties -= more;
  for (WorstFlip& flip : record.worst) {
    const bool is_clear = between_two && limits_.IsClearByMost(flip.sample);
    if (limits_.IsNearByMoves(flip.sample)) flip.sample.flip = Flip::kNearTie;
    if (is_clear) flip.sample.flip = Flip::kClear;
  }
  const DoubtfulTies clear = limits_.DoubtfulClear(between_two);
  record.doubtful_clear = clear.count;
  record.clear_by = clear.by;
}

DecisionRecord DecisionFold::Record() const {
  DecisionRecord record = record_;
  const auto agreeing = record.samples - record.flips;
  const auto samples = static_cast<double>(record.samples);
  record.agreement = static_cast<double>(agreeing) / samples;
  const bool is_top = record.kind.starts_with("top");
  const bool is_single = record.kind.starts_with("argmax") && !any_map_;
  const bool is_side = HasBorder(record.kind) && !any_list_;
  TellByRun(is_top || is_single, IsTop1(record.kind) || is_single || is_side, record);
  if (record.samples == 0) record.agreement = std::numeric_limits<double>::quiet_NaN();
  if (record.samples > 0) record.similarity = similarity_sum_ / samples;
  const std::string_view looked_for = LookedFor(record.kind);
  if (record.samples > 0 && without_any_ == record.samples && !looked_for.empty()) {
    record.vacuous = "no sample of either side has a " + std::string(looked_for);
  }
  if (record.samples > 0 && all_above_ == record.samples && HasBorder(record.kind)) {
    record.vacuous = record.kind == "sign"
                         ? "no value of either side is negative"
                         : "every value of both sides is at or above the threshold";
  }
  // Margins of the other kinds are the least of many: that one is 0 says nothing of the rest.
  const int64_t tied = is_top ? without_margin_ : all_above_;
  if (2 * tied > record.samples && !HasBorder(record.kind)) {
    record.vacuous = "in most samples the reference decides between equal values";
  }
  if (record.vacuous.empty()) record.vacuous = answers_.WhyNothing(record.kind);
  std::tie(record.interval_low, record.interval_high) = WilsonInterval(agreeing, record.samples);
  totals_.Give(record);
  if (!labels_.empty()) record.labels = labels_.Record(record.kind, change_);
  return record;
}

DecisionRecord DecisionFold::FinalRecord(uint64_t seed) const {
  DecisionRecord record = Record();
  if (record.labels) labels_.AddIntervals(seed, *record.labels);
  return record;
}

LabelChange ChangeWorthSeeing(const DecisionOptions& options, const std::string& output,
                              const std::string& kind) {
  LabelChange change;
  const double limit = DropLimitFor(options, output, kind).value_or(0);
  if (limit <= 0) return change;
  return {limit, options.drop_type == DropType::kRelative};
}

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
