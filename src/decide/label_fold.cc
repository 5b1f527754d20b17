#include "decide/label_fold.h"

#include <limits>
#include <tuple>

#include "decide/bootstrap.h"

namespace vernier {
namespace {

constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kMeanIou = "mean IoU";
constexpr std::string_view kMapLabel = "map";

std::string MetricOf(std::string_view kind) {
  if (kind.starts_with("top")) {
    const std::string_view k = kind.substr(3, kind.find(',') - 3);
    return "top-" + std::string(k) + " accuracy";
  }
  return kind.starts_with("threshold") ? "exact match" : "accuracy";
}

// The share of samples on which just one side is right: as observed, or what may have been missed.
double DiscordantShare(const PairedCounts& counts) {
  const int64_t discordant = counts.only_first + counts.only_second;
  if (discordant == 0) return WilsonInterval(0, counts.total()).second;
  return static_cast<double>(discordant) / static_cast<double>(counts.total());
}

void AddShares(const PairedCounts& counts, LabelRecord& record) {
  const int64_t first = counts.both + counts.only_first;
  const int64_t second = counts.both + counts.only_second;
  std::tie(record.first_low, record.first_high) = WilsonInterval(first, counts.total());
  std::tie(record.second_low, record.second_high) = WilsonInterval(second, counts.total());
  std::tie(record.drop_low, record.drop_high) = PairedDropInterval(counts);
  record.drop = static_cast<double>(counts.only_first - counts.only_second) /
                static_cast<double>(counts.total());
  record.right_to_wrong = counts.only_first;
  record.wrong_to_right = counts.only_second;
  record.both_right = counts.both;
  record.p = McNemarP(counts.only_first, counts.only_second);
}

}  // namespace

void LabelFold::Add(const DecisionSample& sample) {
  if (!sample.labelled()) return;
  ++samples_;
  first_sum_ += sample.first_score;
  second_sum_ += sample.second_score;
  if (sample.label == kMapLabel) {
    first_.push_back(sample.first_score);
    second_.push_back(sample.second_score);
    return;
  }
  const bool first = sample.first_score == 1, second = sample.second_score == 1;
  ++(first ? (second ? counts_.both : counts_.only_first)
           : (second ? counts_.only_second : counts_.neither));
  if (!first && !second && sample.flip != Flip::kNone) ++wrong_to_wrong_;
}

LabelRecord LabelFold::Record(std::string_view kind, LabelChange change) const {
  LabelRecord record;
  const bool is_mean = !first_.empty();
  record.metric = is_mean ? std::string(kMeanIou) : MetricOf(kind);
  record.samples = samples_;
  record.first = samples_ == 0 ? kNoFigure : first_sum_ / static_cast<double>(samples_);
  record.second = samples_ == 0 ? kNoFigure : second_sum_ / static_cast<double>(samples_);
  record.change = change.relative ? change.size * record.first : change.size;
  if (samples_ == 0) return record;
  if (is_mean) {
    record.drop = record.first - record.second;
    for (double* end : {&record.first_low, &record.first_high, &record.second_low,
                        &record.second_high, &record.drop_low, &record.drop_high, &record.p}) {
      *end = kNoFigure;
    }
    return record;
  }
  AddShares(counts_, record);
  record.wrong_to_wrong = wrong_to_wrong_;
  if (record.change > 0) {
    record.samples_to_see = McNemarSamples(record.change, DiscordantShare(counts_));
  }
  return record;
}

void LabelFold::AddIntervals(uint64_t seed, LabelRecord& record) const {
  if (first_.empty()) return;
  const PairedMeans means = BootstrapMeans(first_, second_, seed);
  std::tie(record.first_low, record.first_high) = means.first;
  std::tie(record.second_low, record.second_high) = means.second;
  std::tie(record.drop_low, record.drop_high) = means.difference;
}

PairedCounts CountsOf(const LabelRecord& labels) {
  const int64_t discordant = labels.right_to_wrong + labels.wrong_to_right;
  return {labels.both_right, labels.right_to_wrong, labels.wrong_to_right,
          labels.samples - discordant - labels.both_right};
}

bool IsMeanScore(const LabelRecord& labels) { return labels.metric == kMeanIou; }

}  // namespace vernier
