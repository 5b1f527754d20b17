// Labels of texts and of numbers: how far a decision is from the right answer. Internal to decide.
#pragma once

#include <cstdint>

#include "decide/labels/label_scores.h"

namespace vernier {

/// ScoreSample() of `ctc`: the label is the symbols in their order, its blanks left out; scores are
/// 1 of the same text and else 0, errors the insertions, deletions and substitutions to the label.
/// Of a side that is invalid all of the label is missing.
Status ScoreText(const DecisionPlan& decision, const Label& label, const ScoredOutputs& outputs,
                 int64_t row, DecisionSample& sample);

/// ScoreSample() of `regression`: the label has a number for each value; scores are the means of
/// the absolute errors, errors those of their squares. kInvalidArgument, too, where a number of
/// either side is not finite.
Status ScoreValues(const DecisionPlan& decision, const Label& label, const ScoredOutputs& outputs,
                   int64_t row, DecisionSample& sample);

}  // namespace vernier
