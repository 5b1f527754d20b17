#include "decide/gates/decision_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "decide/figures/intervals.h"
#include "decide/labels/label_scores.h"

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

// A sample whose sides have less in common is not of noise: see TieLimits. Of a set the K-th value
// has many neighbours in its noise, but its first value has not, which then leaves as well. 0:
// where noise may leave nothing.
double LeastAlike(std::string_view kind) {
  constexpr double kHalf = 0.5, kAnything = std::numeric_limits<double>::min();
  const Result<DecisionPlan> plan = ParseDecision(kind);
  if (!plan.ok()) return 0;
  switch (plan->kind) {
    case DecisionKind::kTop:
    case DecisionKind::kRank:
      return plan->k == 1 ? kHalf : kAnything;
    case DecisionKind::kArgmax:
    case DecisionKind::kThreshold:
    case DecisionKind::kSign:
      return kHalf;
    default:
      return 0;
  }
}

}  // namespace

DecisionFold::DecisionFold(std::string output, std::string kind, int64_t keep_worst,
                           LabelChange change)
    : labels_(kind),
      change_(change),
      limits_(LeastAlike(kind)),
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
    if (sample.scores_above_one > 0) {
      record_.scores_above_one = record_.scores_above_one.value_or(0) + sample.scores_above_one;
    }
    if (HasNothing(sample)) ++without_any_;
    if (sample.all_above) ++all_above_;
    any_map_ |= IsMapText(sample.first);
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
void DecisionFold::SettleByRun(bool one_margin, DecisionRecord& record) const {
  const DoubtfulTies doubtful = limits_.Doubtful(one_margin);
  record.doubtful_near_ties = doubtful.count;
  record.doubtful_by = doubtful.by;
  const int64_t more = limits_.clear_by_run() - limits_.near_by_moves();
  record.clear_flips += more;
  record.near_ties -= more;
  for (WorstFlip& flip : record.worst) {
    const bool is_clear = limits_.IsClearByRun(flip.sample);
    if (limits_.IsNearByMoves(flip.sample)) flip.sample.flip = Flip::kNearTie;
    if (is_clear) flip.sample.flip = Flip::kClear;
  }
  const DoubtfulTies clear = limits_.DoubtfulClear();
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
  SettleByRun(is_top || is_single, record);
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

}  // namespace vernier
