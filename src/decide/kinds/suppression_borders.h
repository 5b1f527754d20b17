// Boxes that one side keeps and the other suppresses: how close the two sides were to agreeing.
// Internal to decide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "decide/kinds/decision.h"
#include "decide/kinds/detections.h"

namespace vernier {

/// How far a box was from being decided otherwise, on both sides, and the limit of near ties there.
struct BoxBorder {
  double first_margin = kNoMargin;
  double second_margin = kNoMargin;
  double limit = 0;

  /// Is it further from a near tie than another? Never with NaN.
  bool IsWorseThan(const BoxBorder& other) const;
};

/// The rows of one side's output, of boxes that are sure enough and of others.
struct BoxRows {
  int64_t count = 0;
  std::function<Detection(int64_t row)> at;
  /// By how much the score of the class `label` is above that of `other`; NaN where classes have
  /// none.
  std::function<double(int64_t row, int64_t label, int64_t other)> apart;
};

/// Non-maximum suppression turns meaningless differences into boxes: of two that overlap by nearly
/// `iou`, or have nearly the same score, one is kept on only one side. The score of such a box is
/// far from any border. Its margin is that of the decision that went the other way: by how much the
/// reference's IoU differs from `iou`, or its two scores from each other. Where the box is there on
/// the other side, in its row, and its score or its class went the other way, these decide instead:
/// any other box there is a different one.
class SuppressionBorders {
 public:
  /// All must outlive it. `plan`: of boxes.
  SuppressionBorders(const Detections& a, const Detections& b, const BoxMatch& match,
                     const DecisionPlan& plan, const std::array<BoxRows, 2>& rows,
                     const NearTieRule& rule)
      : a_(a),
        b_(b),
        match_(match),
        iou_(plan.iou),
        least_score_(plan.score),
        rows_(rows),
        rule_(rule),
        score_noise_(match.scores.scale()),
        corner_noise_(match.corners.scale()),
        steps_(StepsOfBoxes(a, b)) {}

  /// Of a score that one border or another score decided: by the noise of the boxes that matched,
  /// and at the least what rounding to the steps of scores leaves. `score`: the larger one.
  double ScoreLimit(NoisyValues values, double score) const;

  /// Of a box of the first or second side that has no counterpart of its class among those that the
  /// other side keeps, one of `changed` that differ. nullopt: the other side did not suppress it,
  /// and does not have it in its row.
  std::optional<BoxBorder> Of(bool first, size_t box, int64_t changed);

 private:
  struct Place {
    bool kept = false;
    size_t index = 0;
  };

  std::optional<BoxBorder> Find(bool first, size_t box, int depth);
  std::optional<BoxBorder> Against(bool first, size_t box, const Detection& hidden, size_t surer,
                                   int depth);
  std::optional<BoxBorder> ByRow(bool first, const Detection& box) const;
  std::optional<Place> Counterpart(const Detection& box, const Detections& in) const;
  BoxBorder ByOverlap(bool first, double own, double other, const Detection& x,
                      const Detection& y) const;
  // Those of a grid on which all scores or all corners of the sample lie; 0: there is none.
  struct BoxSteps {
    double score = 0;
    double corner = 0;
  };
  static BoxSteps StepsOfBoxes(const Detections& a, const Detections& b);
  double OverlapNoise(const Detection& x, const Detection& y) const;

  const Detections& a_;
  const Detections& b_;
  const BoxMatch& match_;
  double iou_;
  double least_score_;
  const std::array<BoxRows, 2>& rows_;
  const NearTieRule& rule_;
  double score_noise_;
  double corner_noise_;
  BoxSteps steps_;
  int64_t changed_ = 1;
  int64_t budget_ = 4096;  // of looks at all boxes of a side
};

}  // namespace vernier
