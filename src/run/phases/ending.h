// The end of a run: what failed is logged, runners are closed, files are published, and the record
// says what everything came to.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "run/live/inference_scheduler.h"
#include "run/outcome/run_outcome.h"
#include "run/phases/live_results.h"
#include "run/phases/run_context.h"
#include "run/phases/sides.h"
#include "vernier/status.h"

namespace vernier {

struct RunEnding {
  RunOutcome outcome;
  bool aborted = false;  ///< a phase has failed: less was done than was asked for
  bool unsaved = false;  ///< a file could not be written: nothing is published any more
};

/// What cannot be worked around: a critical line, the record's error and a fault. kCancelled is an
/// error line, and the fault is the signal. What was finished is still published.
void ReportFailure(const RunContext& run, const Status& status, const LiveResults& made,
                   RunEnding& ending);

/// A note that there are no rows to save at `path`.
void NoteNoRows(const std::string& path, RunRecord& record);

/// A note for decisions about random inputs.
void NoteRandomInputs(const RunPlan& plan, RunRecord& record);
/// Images, and folders of them, that --load-inputs seems to name and does not, a sentence each.
std::vector<std::string> ImagesLeftOut(const InputPlan& inputs);
/// Notes for these; with --strict faults.
void NoteImagesLeftOut(const RunPlan& plan, RunOutcome& outcome);
/// The fault of images that were skipped, of ImageFeeds::NoteOfSkipped().
std::string FaultOfSkipped(const std::string& note, const ShardPlan& shard);

/// Closes all runners, publishes what `made` has saved, and describes the runners: the record's
/// runners, notes and saved files, and the faults that are not a pair's. Of a shard `comparing` is
/// checked before its files get their names; null: nothing was compared.
void FinishLive(const RunContext& run, InferenceScheduler& live, LiveResults& made,
                RunEnding& ending, const Comparing* comparing = nullptr);

/// The record's pairs: what the comparisons came to, and what was not compared. After FinishLive();
/// `made` is what live runners did, and `pairs` are as ComparedPairs::places().
void FinishPairs(const InferenceScheduler& live, const LiveResults& made,
                 const Comparing& comparing, const std::vector<std::pair<size_t, size_t>>& pairs,
                 RunEnding& ending);

/// Publishes the rows, if there are any to publish, with what the run has left out. After
/// FinishPairs().
void PublishRows(const RunContext& run, const LiveResults& made, const Comparing& comparing,
                 RunEnding& ending);

/// --validate on what runners that took turns have made, all of it, as in Polygraphy. Errors as
/// OutputSpill::Read and ComparisonRun::Postprocess.
Status ValidateSpilled(const RunContext& run, const Comparing& comparing, const LiveResults& made,
                       RunOutcome& outcome);

}  // namespace vernier
