// What a shard keeps for labels, which are compared with decisions when all parts are merged: only
// there it is known which labels a sample has. What needs the outputs is done where they are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "record/shards/shard_decisions.h"
#include "run/labels/sample_labels.h"
#include "run/maps/pair_matching.h"
#include "vernier/decision_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Adds what samples have beyond their rows; RestoreExtras() gives it back to them.
void KeepExtras(std::vector<ShardDecided>& decided);
/// kMalformed where it is about a sample that the row does not have.
Status RestoreExtras(ShardDecision& kept);

/// Adds it to what was decided about the iterations of a shard. Labels of maps, texts, numbers and
/// cut-off lists are compared with them as if all iterations before had as many samples as the
/// largest that was seen, since only the last is mostly smaller: LabelTrack::ScoreKept refuses what
/// they had not.
class LabelKeeper {
 public:
  /// The outputs of the iteration are those of `sides`.
  void Keep(const RunLabels& labels, const DecisionOptions& options, int64_t iteration,
            const MatchedSides& sides, std::vector<ShardDecided>& decided);

  /// What rows have of labels, after all that is kept for `merge` was: those that come with the
  /// inputs of their iteration. Which of the others are of these samples is not known here.
  static void LabelRows(const RunLabels& labels, const DecisionOptions& options, int64_t iteration,
                        const MatchedSides& sides, std::vector<ShardDecided>& decided);

 private:
  void KeepScores(const SampleLabels& labels, const DecisionPlan& decision, int64_t iteration,
                  const ScoredOutputs& outputs, ShardDecision& one);

  std::map<std::pair<std::string, std::string>, int64_t> most_samples_;  // by output and kind
};

/// The detections again.
Result<SideDetections> DetectionsOf(const ShardDecision& kept);

using FileHashes = std::vector<std::pair<std::string, std::string>>;

/// The files of --labels with the hashes of their content, and 'folder' with that of the names of
/// all folders, which number the classes; then that of --class-names. kIo, and errors of RunLabels.
Result<FileHashes> HashLabels(const DecisionOptions& options, const InputPlan& inputs);

/// kMalformed where a file is no longer the one that the shards read, or `part` and `other` read
/// different ones.
Status CheckLabelsRead(const FileHashes& read, const DecisionOptions& options,
                       const InputPlan& inputs);
Status CheckSameLabels(const std::string& part, const FileHashes& read, const std::string& other,
                       const FileHashes& other_read);

}  // namespace vernier
