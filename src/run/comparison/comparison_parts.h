// What comparisons need besides the outputs: instruments, scripts, masks, tokens, labels.
#pragma once

#include <atomic>
#include <vector>

#include "backend/worker/script_client.h"
#include "compare/functions/comparison.h"
#include "compare/outputs/device_measure.h"
#include "run/comparison/position_feeds.h"
#include "run/labels/sample_labels.h"
#include "run/live/inference_scheduler.h"
#include "run/live/pair_error_bounds.h"
#include "run/parts/shard_writer.h"
#include "run/saved/row_writer.h"
#include "run/steps/step_states.h"

namespace vernier {

/// What outputs are measured with; null: they are not measured so. All must outlive the
/// comparisons.
struct Instruments {
  PerceptualMeasure* perceptual = nullptr;  ///< for --compare perceptual_metrics
  DeviceMeasure* device = nullptr;          ///< where outputs are whose bytes stayed in a worker
  /// The bounds of --tolerance auto, asked while comparing, and where decisions flip if a gate is
  /// about clear flips.
  PairErrorBounds* bounds = nullptr;
  /// Runners that can infer once more: the condition of outputs that are over their bounds is
  /// measured with them, and what the reference gives with the candidate's state. Without, those
  /// bounds stay as they are.
  InferenceScheduler* live = nullptr;
  /// Compare() returns kCancelled once it is set: after the output at hand, not after the
  /// iteration.
  const std::atomic<int>* interrupted = nullptr;
};

/// What else takes part in the comparisons of a run; null: it does not. All must outlive them.
struct ComparisonParts {
  struct Scripts {
    ScriptClient* comparison = nullptr;
    ScriptClient* postprocessing = nullptr;
    std::vector<ScriptClient*> decisions = {};  ///< as RunScripts::decisions()
  };
  Scripts scripts;               ///< opened
  RowWriter* rows = nullptr;     ///< keeps the rows of all pairs under their labels
  ShardWriter* shard = nullptr;  ///< keeps what `vernier merge` folds
  /// Iterations are steps of sequences: outputs that are fed back are compared at the first, the
  /// last and the first bad step of each, unless the plan wants them all, or there are no others.
  const StepStates* steps = nullptr;
  PositionFeeds* positions = nullptr;  ///< what iterations were fed, for --compare logits
  RunLabels* labels = nullptr;         ///< of --labels
  /// An iteration that does not show yet which outputs belong together waits for the next ones.
  /// Else each is compared as far as it and those before it show the pairs.
  bool may_keep = true;
};

}  // namespace vernier
