// The model on both sides as it is, without probes: whether it runs at all, what its outputs are,
// and how much memory that takes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/graph/fused_tensors.h"
#include "blame/graph/memory_plan.h"
#include "blame/probe/probe_side.h"
#include "blame/probe/unprobed_outputs.h"
#include "blame/search/blame_plan.h"
#include "run/comparison/pair_matching.h"
#include "run/live/worker_pool.h"
#include "run/saved/loaded_runs.h"
#include "util/log.h"

namespace vernier {

/// What is run. The objects outlive the run.
struct PlainScene {
  const BlamePlan* plan = nullptr;
  const BlameGraph* graph = nullptr;           ///< the candidate's
  const OnnxModel* reference_model = nullptr;  ///< null: saved
  ProbeSide* reference = nullptr;              ///< null: saved
  ProbeSide* candidate = nullptr;
  LoadedRuns* loaded = nullptr;
  size_t saved_run = 0;  ///< of `loaded`, the reference's
  WorkerPool* pool = nullptr;
  Logger* logger = nullptr;
  Logger* quiet = nullptr;  ///< for what is noise within a search
  const std::atomic<int>* interrupted = nullptr;
};

class PlainRun {
 public:
  explicit PlainRun(const PlainScene& scene) : scene_(scene) {}

  /// Once. Errors of opening and running, with the runner's name; those of the inputs; kCancelled.
  Status Run();

  /// May the sides work at the same time? TensorRT times kernels while it builds, and a limit on
  /// the device's memory is one for both.
  bool MayOverlap() const;

  /// After a run that went well:
  const std::vector<TensorMap>& feeds() const { return feeds_; }
  UnprobedOutputs& outputs() { return outputs_; }
  /// Closed: they tell how a side computes.
  SideRunners SidesAsRun() const {
    return {reference_runner_.get(), candidate_runner_.get(), quantises_alone_};
  }
  std::vector<RunnerRecord> Runners() const;
  /// Of saved outputs, the names of the first iteration.
  const std::vector<std::string>& saved_names() const { return saved_names_; }
  /// Tensors of the graph that the candidate makes only when it has to; views into the graph.
  const NameSet& fused_away() const { return fused_away_; }
  /// Of the models and the sessions, and of the workers when they are idle.
  const HeldMemory& held() const { return held_; }
  /// What the candidate's worker takes when it is idle, in bytes.
  uint64_t idle_candidate() const { return idle_candidate_; }
  /// Why fewer iterations are looked at than were given; empty: all are.
  const std::string& shortened() const { return shortened_; }
  /// Adds which sizes were found for free dimensions, where the model does not run with 1.
  void AddNotes(std::vector<std::string>& notes) const {
    if (!found_sizes_.empty()) notes.push_back(found_sizes_);
  }

 private:
  Status OpenBoth();
  Status TakeReference(SessionAhead& ahead);
  Status OpenCandidate();
  std::vector<TensorInfo> InputsToFeed() const;
  Status MakeFeeds();
  Status CheckGivenFeeds() const;
  Status NameForBoth(std::span<TensorMap> feeds) const;
  Status MatchOutputs();
  Status SettleSizes();
  Status MatchSavedIterations();
  Result<TensorMap> Infer(ProbeSide& side, LiveRunner& runner, size_t iteration);
  Result<TensorMap> ReferenceOutputs(size_t iteration);
  void Close(ProbeSide& side, LiveRunner& runner);

  const PlainScene scene_;
  std::unique_ptr<LiveRunner> reference_runner_, candidate_runner_;
  std::optional<FusionQuestion> fusion_;
  std::vector<TensorMap> feeds_;
  std::vector<std::string> saved_names_;
  PairMatching matching_;
  bool quantises_alone_ = false;
  UnprobedOutputs outputs_;
  NameSet fused_away_;
  HeldMemory held_;
  uint64_t idle_candidate_ = 0;
  std::string shortened_;
  std::string found_sizes_;
  int64_t tried_sizes_ = 0;
};

}  // namespace vernier
