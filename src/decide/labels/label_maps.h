// Maps of classes against labels: mean IoU. Internal to decide.
#pragma once

#include <cstdint>

#include "decide/labels/label_scores.h"

namespace vernier {

/// ScoreSample() of a map: IsMapOf() holds of both outputs, which have one shape.
Status ScoreMap(const DecisionPlan& decision, const Label& label, const ScoredOutputs& outputs,
                int64_t row, DecisionSample& sample);

}  // namespace vernier
