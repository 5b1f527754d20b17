#include "decide/kinds/tie_limits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "decide/figures/intervals.h"
#include "decide/kinds/decision.h"
#include "decide/kinds/near_tie.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Of probabilities that are 0 and 1 but for what softmax leaves to others.
constexpr double kSureMargin = 0.999;

// The sign, the exponent and three bits of the fraction.
constexpr int kDroppedBits = 49;
constexpr size_t kBins = size_t{1} << (63 - kDroppedBits);

// Of a value >= 0, infinity included.
size_t BinOfValue(double value) { return std::bit_cast<uint64_t>(value) >> kDroppedBits; }

// Above all values of a bin.
double EndOfBin(size_t bin) {
  return std::bit_cast<double>(static_cast<uint64_t>(bin + 1) << kDroppedBits);
}

// Clear, as the sample has no noise to compare its margin with.
bool IsUnmeasured(const DecisionSample& sample) {
  const double margin = ClearMargin(sample);
  return sample.flip == Flip::kClear && sample.by_noise && margin > 0 &&
         sample.near_tie < kLeastNoiseShare * margin;
}

int64_t CountAll(const std::vector<int64_t>& bins) {
  return std::accumulate(bins.begin(), bins.end(), int64_t{0});
}

// In the bins below that of a limit.
int64_t CountBelow(const std::vector<int64_t>& bins, double limit) {
  const size_t most = limit > 0 ? std::min(BinOfValue(limit), kBins) : 0;
  const auto end = bins.begin() + static_cast<std::ptrdiff_t>(most);
  return std::accumulate(bins.begin(), end, int64_t{0});
}

// In the bins above that of a limit.
int64_t CountBeyond(const std::vector<int64_t>& bins, double limit) {
  const size_t first = std::min(BinOfValue(limit), kBins - 1) + 1;
  return std::accumulate(bins.begin() + static_cast<std::ptrdiff_t>(first), bins.end(), int64_t{0});
}

// P(X >= count) of a Poisson variable, where `count` is more than its mean.
double PoissonTail(int64_t count, double mean) {
  const auto k = static_cast<double>(count);
  double term = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
  double sum = 0;
  for (double next = k + 1; sum + term != sum; ++next) {
    sum += term;
    term *= mean / next;
  }
  return sum;
}

}  // namespace

TieLimits::TieLimits(double least_alike)
    : least_alike_(least_alike),
      margins_(kBins),
      limits_(kBins),
      alike_noise_(kBins),
      unlike_noise_(kBins),
      moves_(kBins),
      unmeasured_(kBins),
      explained_(kBins),
      far_(kBins),
      unproven_(kBins) {}

void TieLimits::Add(const DecisionSample& sample) {
  const double margin = sample.first_margin;
  if (!(margin >= 0)) return;
  ++counted_;
  if (sample.flip == Flip::kNone) {
    const double move = std::abs(margin - sample.second_margin);
    // Of a softmax that is sure, margins do not move, whatever its logits do.
    const bool sure = margin >= kSureMargin && margin <= 1;
    if (move >= 0 && !sure) ++agreeing_, ++moves_[BinOfValue(move)];
    if (std::isfinite(move)) most_move_ = std::max(most_move_, move);
  } else {
    ++flips_;
  }
  const bool unlike = sample.similarity < least_alike_;
  if (unlike) ++unlike_;
  has_large_margin_ |= margin > 1 && std::isfinite(margin);
  if (sample.boxes) AddBoxes(*sample.boxes);
  if (margin > 0) ++margins_[BinOfValue(margin)];
  if (sample.flip == Flip::kClear) AddClear(sample);
  if (sample.flip != Flip::kNearTie) return;
  if (sample.by_noise) {
    ++by_noise_;
    if (!sample.over_bound) ++(unlike ? unlike_noise_ : alike_noise_)[BinOfValue(sample.near_tie)];
  } else if (sample.over_bound) {
    ++over_bound_;
    if (unlike) ++unlike_over_bound_;
  } else if (sample.near_tie > 0 && margin > 0) {
    ++bounded_;
    ++limits_[BinOfValue(sample.near_tie)];
  }
}

void TieLimits::AddClear(const DecisionSample& sample) {
  const double margin = ClearMargin(sample);
  if (!(margin >= 0)) return;
  const size_t bin = BinOfValue(margin);
  if (IsUnmeasured(sample)) {
    ++unmeasured_[bin];
    if (sample.over_bound) ++explained_[bin];
  } else if (sample.by_noise) {
    const bool explained = sample.over_bound || margin <= kMostNoiseLimits * sample.near_tie;
    ++(explained ? clear_by_noise_ : far_[bin]);
  } else if (sample.over_bound) {
    ++(sample.near_tie > 0 ? clear_over_bound_ : unproven_[bin]);
  }
}

bool TieLimits::MostFlip() const {
  return counted_ > 0 && WilsonInterval(flips_, counted_).first > 0.5;
}

bool TieLimits::MostDiffer() const {
  return counted_ > 0 && WilsonInterval(unlike_, counted_).first > 0.5;
}

void TieLimits::AddBoxes(const BoxCounts& boxes) {
  boxes_.matched += boxes.matched;
  boxes_.lost += boxes.lost;
  boxes_.invented += boxes.invented;
  boxes_.class_changed += boxes.class_changed;
}

bool TieLimits::AreOneSided() const {
  constexpr double kUnlikely = 1e-6, kBiased = 0.05;
  const auto all =
      static_cast<double>(boxes_.matched + boxes_.lost + boxes_.invented + boxes_.class_changed);
  const auto apart = static_cast<double>(std::abs(boxes_.lost - boxes_.invented));
  return apart > kBiased * all && McNemarP(boxes_.lost, boxes_.invented) < kUnlikely;
}

double TieLimits::LimitByRun() const {
  constexpr int64_t kEnough = 30;
  constexpr double kMostTimes = 10;
  if (agreeing_ < kEnough || !has_large_margin_) return std::numeric_limits<double>::infinity();
  return kMostTimes * most_move_;
}

int64_t TieLimits::clear_by_run() const {
  if (AreOneSided()) return CountAll(alike_noise_) + CountAll(unlike_noise_);
  const double limit = LimitByRun();
  const int64_t alone = CountBeyond(alike_noise_, limit);
  if (!MostDiffer()) return alone + CountBeyond(unlike_noise_, limit);
  return alone + CountAll(unlike_noise_) + unlike_over_bound_;
}

bool TieLimits::IsClearByRun(const DecisionSample& sample) const {
  if (sample.flip != Flip::kNearTie || sample.by_noise == sample.over_bound) return false;
  if (sample.similarity < least_alike_ && MostDiffer()) return true;
  if (!sample.by_noise) return false;
  return AreOneSided() || BinOfValue(sample.near_tie) > BinOfValue(LimitByRun());
}

double TieLimits::LimitByNoise() const {
  if (agreeing_ == 0 || MostFlip() || AreOneSided()) return 0;
  size_t median = 0;
  for (int64_t below = moves_[0]; 2 * below < agreeing_; below += moves_[median]) ++median;
  if (median == 0) return 0;
  return 2 * DeviationOf(EndOfBin(median), static_cast<size_t>(agreeing_));
}

// A bin is an eighth of an octave, and what is rounded may lie in the next one. Differences of
// floats that should be 0 are no steps: they are smaller by far.
double TieLimits::LimitByGrid() const {
  constexpr size_t kOctave = 8, kRounding = 10 * kOctave;
  constexpr int64_t kFewMoves = 8;
  size_t top = BinOfValue(std::numeric_limits<double>::max());
  while (top > 0 && moves_[top] == 0) --top;
  int64_t moved = 0, halves = 0;
  for (size_t bin = 1; bin <= top; ++bin) {
    const size_t below = top - bin;
    if (moves_[bin] == 0 || below >= kRounding) continue;
    const bool is_half = below + 1 >= kOctave && below <= kOctave + 1;
    if (below > 1 && !is_half) return 0;
    moved += moves_[bin];
    if (is_half) halves += moves_[bin];
  }
  if (moved < kFewMoves || MostFlip() || AreOneSided()) return 0;
  return EndOfBin(halves > 0 ? top + 1 : top + kOctave + 1);
}

int64_t TieLimits::near_by_moves() const { return CountBelow(unmeasured_, LimitByMoves()); }

bool TieLimits::IsNearByMoves(const DecisionSample& sample) const {
  const double limit = LimitByMoves();
  return IsUnmeasured(sample) && limit > 0 && BinOfValue(ClearMargin(sample)) < BinOfValue(limit);
}

DoubtfulTies TieLimits::DoubtfulClear() const {
  DoubtfulTies doubtful;
  std::vector<std::string> by;
  const bool excused = !MostDiffer() && !AreOneSided();
  const double limit = LimitByMoves();
  const bool unknown = agreeing_ == 0 && !MostFlip() && !AreOneSided();
  const double far = std::max(kMostNoiseLimits * LimitByNoise(), limit);
  const double most = unknown ? std::numeric_limits<double>::infinity() : far;
  const int64_t by_moves = CountBelow(unmeasured_, most) - near_by_moves() + CountBelow(far_, far) +
                           CountBelow(unproven_, std::max(most, 2 * most_move_));
  const int64_t by_noise = clear_by_noise_ + CountAll(explained_) - CountBelow(explained_, most);
  const auto add = [&](int64_t count, const char* why) {
    if (count == 0) return;
    doubtful.count += count;
    by.emplace_back(why);
  };
  if (excused) add(clear_over_bound_, "by the bound of a short or unknown type");
  if (excused) add(by_noise, "within four times the noise of the other values");
  add(by_moves,
      agreeing_ > 0 ? "within four times the noise of the margins" : "where no noise is known");
  doubtful.by = JoinWords(by, " or ");
  return doubtful;
}

// Limits beyond the bin of the median margin.
int64_t TieLimits::CountWide() const {
  int64_t below = counted_ - CountAll(margins_);
  int64_t wide = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    if (2 * below > counted_) wide += limits_[bin];
    below += margins_[bin];
  }
  return wide;
}

bool TieLimits::AreTooMany() const {
  constexpr double kMostOfThoseBelow = 0.05, kUnlikely = 0.001;
  double below = 0;  // summed over the limits
  int64_t margins = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    margins += margins_[bin];
    below += static_cast<double>(limits_[bin]) * static_cast<double>(margins);
  }
  const auto ties = static_cast<double>(bounded_);
  const double expected = kMostOfThoseBelow * below / ties;
  return ties > expected && PoissonTail(bounded_, expected) < kUnlikely;
}

DoubtfulTies TieLimits::Doubtful(bool one_margin) const {
  const int64_t by_moves = near_by_moves();
  const int64_t over_bound = over_bound_ - (MostDiffer() ? unlike_over_bound_ : 0);
  const int64_t by_noise = by_noise_ + over_bound_ - over_bound - clear_by_run();
  DoubtfulTies doubtful{by_noise + over_bound + by_moves, ""};
  std::vector<std::string> bounds;
  if (over_bound > 0) bounds.emplace_back("that the output exceeds");
  if (bounded_ > 0) {
    const int64_t wide = CountWide();
    const bool too_many = one_margin && AreTooMany();
    if (wide > 0) bounds.emplace_back("that is wider than most margins");
    if (too_many) bounds.emplace_back("that does not explain so many");
    doubtful.count += too_many ? bounded_ : wide;
  }
  std::vector<std::string> by;
  if (by_noise > 0) by.emplace_back("by the noise of the other values");
  if (by_moves > 0) by.emplace_back("by the noise of the margins");
  if (!bounds.empty()) by.push_back("by an error bound " + JoinWords(bounds, " or "));
  doubtful.by = JoinWords(by, " or ");
  return doubtful;
}

}  // namespace vernier
