// Which boxes of the two sides are one.
#include <algorithm>
#include <cmath>

#include "decide/kinds/detections.h"

namespace vernier {
namespace {

void AddNoise(const Detection& x, const Detection& y, BoxMatch& match) {
  match.scores.Add(x.score, y.score);
  match.corners.Add(x.x1, y.x1);
  match.corners.Add(x.y1, y.y1);
  match.corners.Add(x.x2, y.x2);
  match.corners.Add(x.y2, y.y2);
}

// As COCO does: each box of the candidate, surest first, takes the free box of the reference that
// it overlaps most, from `iou` on.
void MatchFree(const Detections& a, const Detections& b, double iou, bool same_class,
               BoxMatch& match) {
  for (size_t j = 0; j < b.boxes.size(); ++j) {
    if (match.of_second[j] >= 0) continue;
    double most = 0;
    bool has_nan = false;
    size_t best = a.boxes.size();
    for (size_t i = 0; i < a.boxes.size(); ++i) {
      if (match.of_first[i] >= 0) continue;
      if (same_class && a.boxes[i].label != b.boxes[j].label) continue;
      const double overlap = Overlap(a.boxes[i], b.boxes[j]);
      has_nan |= std::isnan(overlap);
      if (overlap >= iou && overlap > most) most = overlap, best = i;
    }
    if (best == a.boxes.size()) {
      match.has_nan |= has_nan;
      continue;
    }
    match.of_first[best] = static_cast<int64_t>(j);
    match.of_second[j] = static_cast<int64_t>(best);
    ++(same_class ? match.counts.matched : match.counts.class_changed);
    if (!same_class) continue;
    match.counts.overlap += most;
    AddNoise(a.boxes[best], b.boxes[j], match);
  }
}

}  // namespace

BoxMatch MatchBoxes(const Detections& a, const Detections& b, double iou) {
  BoxMatch match;
  match.of_first.assign(a.boxes.size(), -1);
  match.of_second.assign(b.boxes.size(), -1);
  MatchFree(a, b, iou, true, match);
  MatchFree(a, b, iou, false, match);
  match.counts.lost = std::ranges::count(match.of_first, -1);
  match.counts.invented = std::ranges::count(match.of_second, -1);
  return match;
}

}  // namespace vernier
