#include "decide/kinds/tie_limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "decide/kinds/decision.h"
#include "decide/kinds/near_tie.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Clear, as the sample has no noise to compare its margin with.
bool IsUnmeasured(const DecisionSample& sample) {
  const double margin = ClearMargin(sample);
  return sample.flip == Flip::kClear && sample.by_noise && margin > 0 &&
         sample.near_tie < kLeastNoiseShare * margin;
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

TieLimits::TieLimits(double least_alike) : differences_(least_alike) {}

void TieLimits::Add(const DecisionSample& sample) {
  const double margin = sample.first_margin;
  if (!(margin >= 0)) return;
  differences_.Add(sample);
  if (sample.flip == Flip::kNone) moves_.Add(margin, sample.second_margin);
  has_large_margin_ |= margin > 1 && std::isfinite(margin);
  if (margin > 0) margins_.Add(margin);
  if (sample.flip == Flip::kClear) AddClear(sample);
  if (sample.flip == Flip::kNearTie) AddNear(sample);
}

void TieLimits::AddNear(const DecisionSample& sample) {
  const bool unlike = differences_.IsUnlike(sample);
  if (sample.by_noise) {
    ++near_.by_noise;
    if (!sample.over_bound) {
      (unlike ? near_.unlike_noise : near_.alike_noise).Add(sample.near_tie);
    }
  } else if (sample.over_bound) {
    ++near_.over_bound;
    if (unlike) ++near_.unlike_over_bound;
  } else if (sample.near_tie > 0 && sample.first_margin > 0) {
    ++near_.bounded;
    near_.limits.Add(sample.near_tie);
  }
}

void TieLimits::AddClear(const DecisionSample& sample) {
  const double margin = ClearMargin(sample);
  if (!(margin >= 0)) return;
  if (IsUnmeasured(sample)) {
    clear_.unmeasured.Add(margin);
    if (sample.over_bound) clear_.explained.Add(margin);
  } else if (sample.by_noise) {
    if (sample.over_bound || margin <= kMostNoiseLimits * sample.near_tie) {
      ++clear_.by_noise;
    } else {
      clear_.far.Add(margin);
    }
  } else if (sample.over_bound) {
    if (sample.near_tie > 0) {
      ++clear_.over_bound;
    } else {
      clear_.unproven.Add(margin);
    }
  }
}

double TieLimits::LimitByRun() const {
  constexpr int64_t kEnough = 30;
  constexpr double kMostTimes = 10;
  const bool known = moves_.agreeing() >= kEnough && has_large_margin_;
  return known ? kMostTimes * moves_.most() : std::numeric_limits<double>::infinity();
}

int64_t TieLimits::clear_by_run() const {
  if (differences_.AreOneSided()) return near_.alike_noise.All() + near_.unlike_noise.All();
  const double limit = LimitByRun();
  const int64_t alone = near_.alike_noise.Beyond(limit);
  if (!differences_.MostDiffer()) return alone + near_.unlike_noise.Beyond(limit);
  return alone + near_.unlike_noise.All() + near_.unlike_over_bound;
}

bool TieLimits::IsClearByRun(const DecisionSample& sample) const {
  if (sample.flip != Flip::kNearTie || sample.by_noise == sample.over_bound) return false;
  if (differences_.IsUnlike(sample) && differences_.MostDiffer()) return true;
  if (!sample.by_noise) return false;
  return differences_.AreOneSided() ||
         LogBins::BinOf(sample.near_tie) > LogBins::BinOf(LimitByRun());
}

int64_t TieLimits::near_by_moves() const { return clear_.unmeasured.Below(LimitByMoves()); }

bool TieLimits::IsNearByMoves(const DecisionSample& sample) const {
  const double limit = LimitByMoves();
  return IsUnmeasured(sample) && limit > 0 &&
         LogBins::BinOf(ClearMargin(sample)) < LogBins::BinOf(limit);
}

DoubtfulTies TieLimits::DoubtfulClear() const {
  DoubtfulTies doubtful;
  std::vector<std::string> by;
  const bool excused = !differences_.MostDiffer() && !differences_.AreOneSided();
  const double limit = LimitByMoves();
  const bool unknown = moves_.agreeing() == 0 && MovesCount();
  const double far = std::max(kMostNoiseLimits * LimitByNoise(), limit);
  const double most = unknown ? std::numeric_limits<double>::infinity() : far;
  const int64_t by_moves = clear_.unmeasured.Below(most) - near_by_moves() + clear_.far.Below(far) +
                           clear_.unproven.Below(std::max(most, 2 * moves_.most()));
  const int64_t by_noise = clear_.by_noise + clear_.explained.All() - clear_.explained.Below(most);
  const auto add = [&](int64_t count, const char* why) {
    if (count == 0) return;
    doubtful.count += count;
    by.emplace_back(why);
  };
  if (excused) add(clear_.over_bound, "by the bound of a short or unknown type");
  if (excused) add(by_noise, "within four times the noise of the other values");
  add(by_moves, moves_.agreeing() > 0 ? "within four times the noise of the margins"
                                      : "where no noise is known");
  doubtful.by = JoinWords(by, " or ");
  return doubtful;
}

// Limits beyond the bin of the median margin.
int64_t TieLimits::CountWide() const {
  int64_t below = differences_.samples() - margins_.All();
  int64_t wide = 0;
  for (size_t bin = 0; bin < margins_.size(); ++bin) {
    if (2 * below > differences_.samples()) wide += near_.limits[bin];
    below += margins_[bin];
  }
  return wide;
}

bool TieLimits::AreTooMany() const {
  constexpr double kMostOfThoseBelow = 0.05, kUnlikely = 0.001;
  double below = 0;  // summed over the limits
  int64_t margins = 0;
  for (size_t bin = 0; bin < margins_.size(); ++bin) {
    margins += margins_[bin];
    below += static_cast<double>(near_.limits[bin]) * static_cast<double>(margins);
  }
  const auto ties = static_cast<double>(near_.bounded);
  const double expected = kMostOfThoseBelow * below / ties;
  return ties > expected && PoissonTail(near_.bounded, expected) < kUnlikely;
}

DoubtfulTies TieLimits::Doubtful(bool one_margin) const {
  const int64_t by_moves = near_by_moves();
  const int64_t over_bound =
      near_.over_bound - (differences_.MostDiffer() ? near_.unlike_over_bound : 0);
  const int64_t by_noise = near_.by_noise + near_.over_bound - over_bound - clear_by_run();
  DoubtfulTies doubtful{by_noise + over_bound + by_moves, ""};
  std::vector<std::string> bounds;
  if (over_bound > 0) bounds.emplace_back("that the output exceeds");
  if (near_.bounded > 0) {
    const int64_t wide = CountWide();
    const bool too_many = one_margin && AreTooMany();
    if (wide > 0) bounds.emplace_back("that is wider than most margins");
    if (too_many) bounds.emplace_back("that does not explain so many");
    doubtful.count += too_many ? near_.bounded : wide;
  }
  std::vector<std::string> by;
  if (by_noise > 0) by.emplace_back("by the noise of the other values");
  if (by_moves > 0) by.emplace_back("by the noise of the margins");
  if (!bounds.empty()) by.push_back("by an error bound " + JoinWords(bounds, " or "));
  doubtful.by = JoinWords(by, " or ");
  return doubtful;
}

}  // namespace vernier
