#include "decide/labels/label_fold.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "decide/figures/bootstrap.h"

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
  if (kind.starts_with("ctc")) return "exact texts";
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

double SumOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

LabelFold::LabelFold(std::string_view kind) : is_regression_(kind.starts_with("regression")) {}

void LabelFold::Add(const DecisionSample& sample) {
  any_unjudged_ |= !sample.labelled() && !sample.label.empty();
  if (!sample.labelled()) return;
  ++samples_;
  first_sum_ += sample.first_score;
  second_sum_ += sample.second_score;
  if (!std::isnan(sample.first_error) && !std::isnan(sample.second_error)) {
    first_errors_.push_back(sample.first_error);
    second_errors_.push_back(sample.second_error);
    if (!is_regression_) sizes_.push_back(static_cast<double>(sample.label_size));
  }
  if (is_regression_ || sample.label == kMapLabel) {
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
  record.metric = is_regression_ ? std::string(kMeanAbsoluteError)
                  : is_mean      ? std::string(kMeanIou)
                                 : MetricOf(kind);
  record.samples = samples_;
  record.first = samples_ == 0 ? kNoFigure : first_sum_ / static_cast<double>(samples_);
  record.second = samples_ == 0 ? kNoFigure : second_sum_ / static_cast<double>(samples_);
  record.change = change.relative ? change.size * record.first : change.size;
  if (samples_ == 0) return record;
  AddErrors(record);
  if (is_mean) {
    record.drop = (is_regression_ ? -1 : 1) * (record.first - record.second);
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

// Of saved rows there may be none.
void LabelFold::AddErrors(LabelRecord& record) const {
  if (first_errors_.size() != static_cast<size_t>(samples_)) return;
  const ErrorColumns columns{first_errors_, second_errors_, sizes_, is_regression_};
  const double size = is_regression_ ? static_cast<double>(samples_) : SumOf(sizes_);
  if (size == 0) return;  // texts without a symbol, of which no share is wrong
  LabelErrorRecord& error = record.errors.emplace_back();
  error.metric = is_regression_ ? "RMSE" : "character error rate";
  error.first = columns.Figure(SumOf(first_errors_), size);
  error.second = columns.Figure(SumOf(second_errors_), size);
  error.rise = error.second - error.first;
  for (double* end : {&error.first_low, &error.first_high, &error.second_low, &error.second_high,
                      &error.rise_low, &error.rise_high}) {
    *end = kNoFigure;
  }
}

void LabelFold::AddIntervals(uint64_t seed, LabelRecord& record) const {
  for (LabelErrorRecord& error : record.errors) {
    const PairedMeans means =
        BootstrapErrors({first_errors_, second_errors_, sizes_, is_regression_}, seed);
    std::tie(error.first_low, error.first_high) = means.first;
    std::tie(error.second_low, error.second_high) = means.second;
    error.rise_low = -means.difference.second;
    error.rise_high = -means.difference.first;
  }
  if (first_.empty()) return;
  const PairedMeans means = BootstrapMeans(first_, second_, seed);
  std::tie(record.first_low, record.first_high) = means.first;
  std::tie(record.second_low, record.second_high) = means.second;
  std::tie(record.drop_low, record.drop_high) = means.difference;
  if (is_regression_) {
    std::tie(record.drop_low, record.drop_high) =
        std::pair(-means.difference.second, -means.difference.first);
  }
}

PairedCounts CountsOf(const LabelRecord& labels) {
  const int64_t discordant = labels.right_to_wrong + labels.wrong_to_right;
  return {labels.both_right, labels.right_to_wrong, labels.wrong_to_right,
          labels.samples - discordant - labels.both_right};
}

bool IsMeanScore(const LabelRecord& labels) { return labels.metric == kMeanIou || IsError(labels); }

bool IsError(const LabelRecord& labels) { return labels.metric == kMeanAbsoluteError; }

}  // namespace vernier
