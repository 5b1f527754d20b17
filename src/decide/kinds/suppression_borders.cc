#include "decide/kinds/suppression_borders.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "decide/kinds/tie_limits.h"
#include "decide/kinds/value_grid.h"

namespace vernier {

bool BoxBorder::IsWorseThan(const BoxBorder& other) const {
  const auto times = [](const BoxBorder& border) {
    const double candidate = border.second_margin / kMostCandidateLimits;
    if (border.first_margin == 0 && !(candidate > border.limit)) return 0.0;
    const double margin = std::fmax(border.first_margin, candidate);
    return border.limit > 0 ? margin / border.limit : std::numeric_limits<double>::infinity();
  };
  if (std::isnan(other.first_margin)) return !std::isnan(first_margin);
  if (times(*this) != times(other)) return times(*this) > times(other);
  return first_margin > other.first_margin;
}

// Where the other side has the box in its row: by how much its score or its class went the other
// way. nullopt: it does not, as where it suppresses the box. Outputs of another length have other
// boxes in their rows, and so have boxes that moved.
std::optional<BoxBorder> SuppressionBorders::ByRow(bool first, const Detection& box) const {
  constexpr double kSameBox = 0.5, kFloatStep = 0x1p-23;
  const BoxRows &own = rows_[first ? 0 : 1], &other = rows_[first ? 1 : 0];
  if (own.count != other.count) return std::nullopt;
  const Detection there = other.at(box.row);
  if (!(Overlap(box, there) >= kSameBox)) return std::nullopt;
  const double score = std::max(box.score, there.score);
  BoxBorder border;
  if (there.score < least_score_) {
    border = {box.score - least_score_, least_score_ - there.score,
              ScoreLimit(NoisyValues::kOne, score)};
  } else if (there.label != box.label) {
    border = {own.apart(box.row, box.label, there.label),
              other.apart(box.row, there.label, box.label), ScoreLimit(NoisyValues::kTwo, score)};
  }
  if (std::isnan(border.first_margin)) return std::nullopt;
  const double steps = TwoSteps(SpacingAt(score, kFloatStep));
  if (std::max(border.first_margin, border.second_margin) < steps) {
    border.limit = std::max(border.limit, steps);
  }
  if (!first) std::swap(border.first_margin, border.second_margin);
  return border;
}

std::optional<BoxBorder> SuppressionBorders::Of(bool first, size_t box, int64_t changed) {
  changed_ = changed;
  return Find(first, box, 0);
}

// The box of its class that it overlaps most, from `iou` on, as boxes are matched; or that of its
// row: those of heads stay where they are.
std::optional<SuppressionBorders::Place> SuppressionBorders::Counterpart(
    const Detection& box, const Detections& in) const {
  std::optional<Place> place;
  double most = iou_;
  const auto look = [&](const std::vector<Detection>& boxes, bool kept) {
    for (size_t i = 0; i < boxes.size(); ++i) {
      if (boxes[i].label != box.label) continue;
      const bool same_row = boxes[i].row == box.row;
      const double overlap = Overlap(boxes[i], box) + (same_row ? 1 : 0);
      if (same_row && overlap < 1 + iou_) continue;
      if (overlap > most || (overlap == most && !place)) most = overlap, place = {kept, i};
    }
  };
  look(in.boxes, true);
  look(in.suppressed, false);
  return place;
}

std::optional<BoxBorder> SuppressionBorders::Find(bool first, size_t box, int depth) {
  constexpr int kMostDeep = 8;
  if (depth > kMostDeep || --budget_ < 0) return std::nullopt;
  const Detections &own = first ? a_ : b_, &other = first ? b_ : a_;
  if (const auto border = ByRow(first, own.boxes[box])) return border;
  const std::optional<Place> there = Counterpart(own.boxes[box], other);
  if (!there) return std::nullopt;
  if (there->kept) {
    // A box that the other side does not keep took its place.
    const int64_t taker = (first ? match_.of_second : match_.of_first)[there->index];
    const auto index = static_cast<size_t>(taker);
    return taker < 0 || index == box ? std::nullopt : Find(first, index, depth + 1);
  }
  const Detection& hidden = other.suppressed[there->index];
  std::optional<BoxBorder> worst;
  for (size_t i = 0; i < other.boxes.size(); ++i) {
    const Detection& surer = other.boxes[i];
    if (surer.label != hidden.label || surer.score < hidden.score) continue;
    if (!(Overlap(surer, hidden) > iou_)) continue;
    const std::optional<BoxBorder> border = Against(first, box, hidden, i, depth);
    if (!border) return std::nullopt;
    if (!worst || border->IsWorseThan(*worst)) worst = border;
  }
  return worst;
}

// Why `surer` does on the other side to `hidden`, which is our `box`, what it does not on our own.
std::optional<BoxBorder> SuppressionBorders::Against(bool first, size_t box,
                                                     const Detection& hidden, size_t surer,
                                                     int depth) {
  const Detections &own = first ? a_ : b_, &other = first ? b_ : a_;
  const Detection &x = own.boxes[box], &their = other.boxes[surer];
  if (const auto border = ByRow(!first, their)) return border;
  const std::optional<Place> there = Counterpart(their, own);
  if (!there || (there->kept && there->index == box)) return std::nullopt;
  const Detection& y = (there->kept ? own.boxes : own.suppressed)[there->index];
  const double overlap = Overlap(x, y);
  if (!(overlap > iou_)) {
    return ByOverlap(first, iou_ - overlap, Overlap(hidden, their) - iou_, x, y);
  }
  if (there->kept) return std::nullopt;
  if (x.score < y.score) return Find(!first, surer, depth + 1);  // something else suppressed it
  BoxBorder border{x.score - y.score, their.score - hidden.score, 0};
  if (!first) std::swap(border.first_margin, border.second_margin);
  border.limit = ScoreLimit(NoisyValues::kTwo, x.score);
  return border;
}

BoxBorder SuppressionBorders::ByOverlap(bool first, double own, double other, const Detection& x,
                                        const Detection& y) const {
  BoxBorder border{own, other, NoiseLimit(OverlapNoise(x, y), NoisyValues::kOne, changed_)};
  if (!first) std::swap(border.first_margin, border.second_margin);
  return border;
}

SuppressionBorders::BoxSteps SuppressionBorders::StepsOfBoxes(const Detections& a,
                                                              const Detections& b) {
  constexpr GridWidth kPixels = {63, 4096};  // corners of bytes are sums of centres and halves
  std::vector<double> scores, corners;
  for (const auto* boxes : {&a.boxes, &a.suppressed, &b.boxes, &b.suppressed}) {
    for (const Detection& box : *boxes) {
      scores.push_back(box.score);
      corners.insert(corners.end(), {box.x1, box.y1, box.x2, box.y2});
    }
  }
  return {CommonStep(scores), CommonStep(corners, kPixels)};
}

// Noise beyond every score of the reference excuses nothing; it is not as if there were none, which
// other samples would have to show.
double SuppressionBorders::ScoreLimit(NoisyValues values, double score) const {
  double by_noise = NoiseLimit(score_noise_, values, changed_);
  const double most = a_.boxes.empty() ? a_.below : a_.boxes.front().score;
  if (most > 0 && by_noise > most) by_noise = kLeastNoiseShare * most;
  return std::max({by_noise, rule_.Spacing(score), TwoSteps(steps_.score)});
}

// What the noise of single numbers makes of an IoU, to first order; at the least that of rounding
// to the short type whose numbers they are, or to a step of their grid on each side. Corners that
// move further than a hundredth of their box are wrong ones, and excuse no more than that.
double SuppressionBorders::OverlapNoise(const Detection& x, const Detection& y) const {
  using Corner = double Detection::*;
  constexpr std::array<Corner, 4> kCorners = {&Detection::x1, &Detection::y1, &Detection::x2,
                                              &Detection::y2};
  constexpr double kMostOfBox = 0.01;
  const double side = std::max({x.x2 - x.x1, x.y2 - x.y1, y.x2 - y.x1, y.y2 - y.y1});
  double largest = 0;
  for (const Corner corner : kCorners) {
    Raise(largest, x.*corner);
    Raise(largest, y.*corner);
  }
  const double noise = std::min(corner_noise_, kMostOfBox * side);
  const double moved = std::max({noise, rule_.Spacing(largest) / 2, steps_.corner});
  const double overlap = Overlap(x, y);
  double squares = 0;
  for (const Corner corner : kCorners) {
    Detection other_x = x, other_y = y;
    other_x.*corner += moved;
    other_y.*corner += moved;
    squares +=
        std::pow(Overlap(other_x, y) - overlap, 2) + std::pow(Overlap(x, other_y) - overlap, 2);
  }
  return std::sqrt(squares);
}

}  // namespace vernier
