// The sides of a run: live runners and saved outputs, which of them are compared, and what becomes
// of an iteration's outputs.
#pragma once

#include <cstdint>
#include <memory>

#include "run/comparison/compared_pairs.h"
#include "run/feeds/streams.h"
#include "run/live/inference_scheduler.h"
#include "run/parts/shard_writer.h"
#include "run/phases/run_context.h"
#include "run/saved/output_savers.h"
#include "run/saved/row_writer.h"
#include "run/saved/saved_streams.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

class ComparisonRun;

struct RunSides {
  SavedStreams loaded;
  ComparedPairs pairs;
};

/// Of a shard of a run with `total` iterations: kMalformed, naming the first file, unless all saved
/// sides hold as many.
Status CheckSavedCounts(const SavedStreams& loaded, int64_t total);

/// Opens the saved outputs, finds the pairs and names them for people. Errors as SavedStreams::Open
/// and ComparedPairs::Find.
Result<RunSides> OpenSides(const RunPlan& plan, const InferenceScheduler& live, Logger& logger);

/// The file of --save-rows; null without. kInvalidArgument where there are no pairs; errors as
/// RowWriter::Create.
Result<std::unique_ptr<RowWriter>> OpenRows(const RunPlan& plan, const ComparedPairs& pairs,
                                            Logger& logger);

/// Names in the plan's options against those that inputs and outputs have. Nothing is known, and
/// nothing is wrong, where a runner has failed or does not say what its outputs are. Errors as
/// RunnerFeeds::CheckMaps and, unless the plan is lenient, CheckOutputNames.
Status CheckNames(const RunPlan& plan, const InferenceScheduler& live, SavedStreams& loaded);

struct Comparing;

/// The same of --map-outputs, where all outputs are known by their names and no script makes others
/// of them. Errors as ComparisonRun::CheckMaps.
Status CheckOutputMaps(const RunPlan& plan, const InferenceScheduler& live,
                       const Comparing& comparing);

/// What becomes of an iteration's outputs. All must outlive it.
struct Comparing {
  SavedStreams& loaded;
  ComparisonRun& comparisons;
  RowWriter* rows;               ///< null: no rows are saved, or those that were are not believed
  ShardWriter* shard = nullptr;  ///< null: the run is not divided

  /// Puts the outputs of saved runs beside those of live runners, and compares. False: nothing more
  /// is to be compared. Errors as SavedStreams::Append and ComparisonRun::Compare.
  Result<bool> Compare(int64_t iteration, IterationOutputs& outputs) const;

  /// Before Compare(): what live runners are fed. For shards also what they received: after the
  /// inference.
  void NoteFeed(int64_t iteration, OutputSavers& savers, const InferenceScheduler& live) const;

  /// What was found with a saved file that has changed since is dropped, and so are the rows. Saved
  /// sides are those from the place `first` on.
  void Disbelieve(size_t first);
};

/// Compares saved outputs alone, to the end of the shortest run, or those of the plan's shard.
Status CompareLoaded(const RunContext& run, const Comparing& comparing);

}  // namespace vernier
