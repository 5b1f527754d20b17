// The decisions about the outputs of a pair, over all iterations of a run (`--decision`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/worker/script_client.h"
#include "compare/functions/error_bound.h"
#include "decide/gates/decision_fold.h"
#include "record/shards/shard_decisions.h"
#include "run/labels/labelled_boxes.h"
#include "run/labels/sample_labels.h"
#include "run/maps/pair_matching.h"
#include "vernier/row_record.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

class DeviceMeasure;
struct IterationComparison;

/// What the exit code rests on; never kUnsaid.
JudgeRule JudgeOf(const RunPlan& plan);
/// The options of the comparison. Elements that are only reported do not end the run: later ones
/// may determine the exit code.
Indirect<CompareOptions> OptionsToCompare(const RunPlan& plan);
/// "elements", "decisions" or "both".
std::string_view JudgeName(JudgeRule rule);

/// One iteration of a pair, to be decided about.
struct DecidedSides {
  const MatchedSides& sides;               ///< outputs as the runners gave them
  const IterationComparison* comparison;   ///< has their error bounds; null: it is not of these
  DeviceMeasure* device;                   ///< where bytes are that are not here; may be null
  std::span<ScriptClient* const> scripts;  ///< as RunScripts::decisions()
  /// The error bounds for near ties of outputs of which `comparison` has none, computed where
  /// something flips; empty: there are none either.
  std::function<const ErrorBounds&()> bounds = {};
  /// As PairErrorBounds::AreFirm, of both kinds of bounds.
  bool firm = true;
};

class PairDecisions {
 public:
  PairDecisions() = default;
  /// `options` and `labels` (may be null) must outlive it; `seed` is of what is drawn.
  explicit PairDecisions(const DecisionOptions& options, const RunLabels* labels = nullptr,
                         int64_t seed = 1);

  /// Decides about one iteration: one for each decision of the options. Errors as
  /// DeviceMeasure::Fetch and ScriptClient.
  Result<std::vector<ShardDecided>> Decide(int64_t iteration, const DecidedSides& given) const;

  /// Adds what was decided about the next iteration to the figures, and gives it with its labels.
  /// What could not be decided is counted, see Missing(). Labels are compared with the outputs of
  /// `sides`, or, where that is null, with what the shard kept of them. kMalformed as
  /// LabelTrack::ScoreKept.
  Result<std::vector<DecisionRow>> Fold(int64_t iteration, int64_t step,
                                        std::vector<ShardDecided> decided,
                                        const MatchedSides* sides);

  /// The decisions and their gates.
  void AddTo(PairRecord& record) const;

  /// What should have been decided and was not, a sentence each.
  std::vector<std::string> Missing() const;
  /// Samples without a label, and labels without a sample or a decision, a sentence each.
  std::vector<std::string> UnfitLabels() const;
  /// What may make figures misleading, a sentence each.
  std::vector<std::string> Doubts() const;
  /// Whether the exit code rests on the elements of an output although it rests on decisions: no
  /// gate is about it. Of what was decided up to now.
  bool LeavesToElements(const std::string& output) const;
  /// Gates that no decision is about, a sentence each.
  std::vector<std::string> IdleGates() const;

  /// The iterations of the worst flips of all decisions, in order, each once.
  std::vector<int64_t> WorstIterations() const;
  /// Adds the worst flips of each decision; valid until the next Decide().
  void AddWorst(std::vector<const WorstFlip*>& worst) const;

 private:
  // A decision as it was asked for.
  struct Asked {
    int64_t iterations = 0;
    int64_t missed = 0;
    std::string why;  // of the first that was missed
  };
  // A decision about one output.
  struct Decided {
    size_t plan;
    std::string output;
    DecisionFold fold;
    LabelTrack labels;
    std::optional<LabelledBoxes> boxes = {};  // where they are labelled
    bool all_bounded = true, any_bounded = false;
    int64_t last_iteration = -1;
    std::optional<int64_t> classes = {};  // of the output
  };
  // A pair of outputs to decide about.
  struct Subject {
    const NamedTensor& first;
    const NamedTensor& second;
  };

  bool IsAbout(size_t plan, const std::string& output) const;
  std::string WhyNot(size_t plan, const Subject& subject) const;
  /// One side can be decided, and the other cannot.
  static bool HalfFits(const DecisionPlan& decision, const Subject& subject);
  std::string WhyNone(size_t plan, const MatchedSides& sides) const;
  Decided& FoldOf(size_t plan, const std::string& output);
  void LabelRow(Decided& decided, int64_t iteration, const MatchedSides& sides, DecisionRow& row);
  Status LabelKept(Decided& decided, int64_t iteration, ShardDecision& kept);
  Result<std::vector<DecisionRow>> FoldOne(size_t plan, int64_t iteration, int64_t step,
                                           ShardDecided made, const MatchedSides* sides);
  Status DecideOne(size_t plan, const DecidedSides& given, ShardDecided& made) const;
  Result<ShardDecision> DecideSubject(size_t plan, const DecidedSides& given,
                                      const Subject& subject) const;
  /// --class-names have as many names as the output has classes; nullopt: one is not known.
  std::optional<bool> AreNamed(const Decided& decided) const;
  void NameClasses(const Decided& decided, DecisionRecord& record) const;
  Status DecideByScript(size_t plan, int64_t iteration, const DecidedSides& given,
                        ShardDecided& made) const;

  const DecisionOptions* options_ = nullptr;
  const RunLabels* labels_ = nullptr;
  uint64_t seed_ = 1;
  std::vector<Asked> asked_;      // as in the options
  std::vector<Decided> decided_;  // in the order of `asked_`, then of the outputs
};

}  // namespace vernier
