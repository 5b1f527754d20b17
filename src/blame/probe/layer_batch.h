// One batch of layers: the tensors of both sides, total errors, and own errors from islands.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/graph/fused_tensors.h"
#include "blame/judge/amplified_rounding.h"
#include "blame/judge/tensor_judge.h"
#include "blame/probe/island_bench.h"
#include "blame/probe/layers_alone.h"
#include "blame/probe/probe_side.h"
#include "blame/probe/reference_probe.h"
#include "blame/probe/side_error_bounds.h"
#include "blame/probe/tensor_pairs.h"
#include "util/thread_pool.h"
#include "vernier/blame_record.h"

namespace vernier {

/// What all batches share. The objects outlive them.
struct BlameScene {
  const BlameGraph* graph = nullptr;
  ReferenceSource reference;
  ProbeSide* candidate = nullptr;
  ProbeSide* alone = nullptr;  ///< the candidate once more, for islands
  SideRunners runners;
  const CompareOptions* compare = nullptr;
  ThreadPool* threads = nullptr;
  bool charts = false;
  AfterUse after_use = AfterUse::kClose;  ///< of all sessions
  bool side_by_side = false;              ///< both sides open sessions at a time
  const NameSet* fused_away = nullptr;    ///< tensors that the candidate makes only when it has to
  std::vector<std::string> outputs;       ///< of the candidate's model, marked with every batch
  /// Tensors that both sides are believed to hand out; those that they do not are removed.
  NameSet* visible = nullptr;
  NameSet* disputed = nullptr;            ///< those whose total errors are over their bounds
  AmplifiedTensors* amplified = nullptr;  ///< of the batches before, too
  std::vector<UnexposedTensor>* unexposed = nullptr;
  std::optional<NonFiniteRecord>* first_nonfinite = nullptr;
};

class LayerBatch {
 public:
  /// `targets` are nodes in order.
  LayerBatch(const BlameScene& scene, std::vector<uint32_t> targets);

  /// One feed. Layers come in the order of targets; those without a tensor that both sides hand out
  /// are left out, all of them where a side gives nothing. kCancelled, and kMalformed for a damaged
  /// file of saved outputs.
  Result<std::vector<BlameLayerRecord>> Run(const TensorMap& feed, int64_t iteration);

  /// The candidate's outputs of the model, as far as they came with the probes of the last Run.
  const TensorMap& probed_outputs() const { return probed_outputs_; }

  /// The tensors that were exposed when these came.
  const std::vector<std::string>& probes() const { return probes_; }

 private:
  Status Probe(const TensorMap& feed, int64_t iteration);
  Status CheckSavedShapes() const;
  void FindIslands();
  Status ProbeCandidate(const std::vector<std::string_view>& names, const TensorMap& feed);
  std::vector<std::string_view> Wanted() const;
  void DropInvisible(const std::vector<std::string_view>& names);
  void JudgeTotals(const TensorMap& feed);
  void DescribeTotals();
  void CompareForCharts(std::span<const NamedTensor> ours, std::span<const std::string_view> names,
                        const ErrorBounds& bounds);
  void NameGroups();
  void TakeIslands();
  std::vector<std::string> NodesOf(const Island& island) const;
  void NoteMisfits();
  TensorLookup AsFed() const;
  TensorSource From(const TensorsByName& tensors, const TensorMap& feed) const;

  const BlameScene scene_;
  std::vector<uint32_t> targets_;
  std::vector<Island> islands_;
  std::vector<LayerIsland> fused_islands_;  // several nodes that the candidate computes as one
  std::vector<BlameLayerRecord> layers_;
  TensorsByName reference_, candidate_;  // of one iteration
  TensorMap probed_outputs_;
  std::vector<std::string> probes_;
  const TensorMap* feed_ = nullptr;
  PairErrorBounds bounds_;
  ReferenceProbe reference_probe_;
  ProbeSessions candidate_sessions_;
  LayersAlone alone_, fused_;
  std::string signature_;  // of the tensors that these were taken for
};

}  // namespace vernier
