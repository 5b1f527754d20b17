// What both sides of a pair detect in one sample, and which of their boxes are one. Internal to
// decide.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "decide/kinds/near_tie.h"
#include "vernier/decision_record.h"

namespace vernier {

/// In float64 throughout.
struct Detection {
  double x1, y1, x2, y2;
  double score;
  double margin;  ///< of the score: to the least score, or to the next class where that is nearer
  int64_t label;
  int64_t row;  ///< among the boxes of the output

  double area() const { return std::max(x2 - x1, 0.0) * std::max(y2 - y1, 0.0); }
};

/// The IoU: 1 of equal boxes; NaN of others whose area or common area is not finite.
inline double Overlap(const Detection& a, const Detection& b) {
  if (a.x1 == b.x1 && a.y1 == b.y1 && a.x2 == b.x2 && a.y2 == b.y2) return 1;
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const double both = std::max(width, 0.0) * std::max(height, 0.0);
  const double either = a.area() + b.area() - both;
  return either > 0 || std::isnan(either) ? both / either : 0;
}

/// What one side detected in one sample, surest first.
struct Detections {
  std::vector<Detection> boxes;
  std::vector<Detection> suppressed;  ///< sure enough, and overlapped by a surer one
  double below = -std::numeric_limits<double>::infinity();  ///< the best score that is too low
  bool has_nan = false;   ///< among scores, or a box that is sure enough is none: see `why`
  std::string why;        ///< "box 3 has the class 1.7, and classes are whole"; empty: NaN
  int64_t negative = 0;   ///< sure boxes whose width or height is below 0
  int64_t above_one = 0;  ///< sure boxes whose score is not a probability
};

/// Which boxes of the two sides match.
struct BoxMatch {
  std::vector<int64_t> of_first;  // the candidate's box of each of the reference, or -1
  std::vector<int64_t> of_second;
  BoxCounts counts;
  DifferenceNoise scores;
  DifferenceNoise corners;  // of the boxes that matched, in the units of the output
  bool has_nan = false;     // a box that was not matched has an overlap that is none
};

/// Class by class, then the rest regardless of class, each from an IoU of `iou` on.
BoxMatch MatchBoxes(const Detections& a, const Detections& b, double iou);

}  // namespace vernier
