// The tokens that the runners of a pair chose at each step (--decode).
#pragma once

#include <cstdint>
#include <vector>

#include "compare/functions/comparison.h"
#include "run/comparison/compared_pairs.h"
#include "run/comparison/pair_tokens.h"
#include "run/feeds/streams.h"
#include "run/steps/step_states.h"
#include "vernier/run_plan.h"

namespace vernier {

/// Of a pair of which nothing is known yet. `steps` may be null; `by_script`: a script compares.
PairTokens MakePairTokens(const RunPlan& plan, const StepStates* steps, bool by_script);

/// Notes for each pair what its sides chose. To be called before post-processing, which may leave
/// no logits. Does nothing without --decode.
void NoteTokens(const StepStates& steps, int64_t iteration, const IterationOutputs& outputs,
                const FeedMarks& feeds, std::vector<ComparedPair>& pairs);

/// Whether the logits of the step passed, for a divergence there. Does nothing without --decode.
void JudgeStepTokens(const StepStates& steps, int64_t iteration,
                     const IterationComparison& comparison, ComparedPair& pair);

}  // namespace vernier
