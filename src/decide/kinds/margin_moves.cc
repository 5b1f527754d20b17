#include "decide/kinds/margin_moves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "decide/kinds/near_tie.h"

namespace vernier {
namespace {

// Of probabilities that are 0 and 1 but for what softmax leaves to others.
constexpr double kSureMargin = 0.999;

}  // namespace

void MarginMoves::Add(double first_margin, double second_margin) {
  const double move = std::abs(first_margin - second_margin);
  // Of a softmax that is sure, margins do not move, whatever its logits do.
  const bool sure = first_margin >= kSureMargin && first_margin <= 1;
  if (move >= 0 && !sure) {
    ++agreeing_;
    moves_.Add(move);
  }
  if (std::isfinite(move)) most_ = std::max(most_, move);
}

double MarginMoves::LimitByNoise() const {
  if (agreeing_ == 0) return 0;
  size_t median = 0;
  for (int64_t below = moves_[0]; 2 * below < agreeing_; below += moves_[median]) ++median;
  if (median == 0) return 0;
  return 2 * DeviationOf(LogBins::EndOf(median), static_cast<size_t>(agreeing_));
}

// A bin is an eighth of an octave, and what is rounded may lie in the next one. Differences of
// floats that should be 0 are no steps: they are smaller by far.
double MarginMoves::LimitByGrid() const {
  constexpr size_t kOctave = 8, kRounding = 10 * kOctave;
  constexpr int64_t kFewMoves = 8;
  size_t top = LogBins::BinOf(std::numeric_limits<double>::max());
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
  if (moved < kFewMoves) return 0;
  return LogBins::EndOf(halves > 0 ? top + 1 : top + kOctave + 1);
}

}  // namespace vernier
