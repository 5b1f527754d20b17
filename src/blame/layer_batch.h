// One batch of layers: the tensors of both sides, total errors, and own errors from islands.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "blame/blame_graph.h"
#include "blame/island_bench.h"
#include "blame/probe_side.h"
#include "blame/reference_probe.h"
#include "blame/tensor_pairs.h"
#include "record/blame_record.h"
#include "run/pair_bars.h"

namespace vernier {

/// What all batches share. The objects outlive them.
struct BlameScene {
  const BlameGraph* graph = nullptr;
  ReferenceSource reference;
  ProbeSide* candidate = nullptr;
  ProbeSide* alone = nullptr;                    ///< the candidate once more, for islands
  const LiveRunner* reference_runner = nullptr;  ///< how the sides compute; null: saved
  const LiveRunner* candidate_runner = nullptr;
  const CompareOptions* compare = nullptr;
  std::vector<std::string> outputs;  ///< of the candidate's model, marked with every batch
  /// Tensors that both sides are believed to hand out; those that they do not are removed.
  NameSet* visible = nullptr;
  NameSet* disputed = nullptr;  ///< those whose total errors are over their bars
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

 private:
  Status Probe(const TensorMap& feed, int64_t iteration);
  void FindIslands();
  Status ProbeCandidate(const std::vector<std::string_view>& names, const TensorMap& feed);
  std::vector<std::string_view> Wanted() const;
  void DropInvisible(const std::vector<std::string_view>& names);
  void JudgeTotals(const TensorMap& feed);
  Status MeasureOwn();
  Status MeasureInPlace();
  void JudgeOwn(size_t index, const IslandResult& result);
  void JudgeInPlace(size_t index, const IslandResult& result);
  void NoteNonFinite(size_t index);
  TensorLookup AsFed() const;
  TensorSource From(const TensorsByName& tensors, const TensorMap& feed) const;

  const BlameScene scene_;
  std::vector<uint32_t> targets_;
  std::vector<Island> islands_;
  std::vector<BlameLayerRecord> layers_;
  TensorsByName reference_, candidate_;  // of one iteration
  TensorMap probed_outputs_;
  const TensorMap* feed_ = nullptr;
  PairBars bars_;
  ReferenceProbe reference_probe_;
  ProbeSessions candidate_sessions_;
  IslandBench bench_;
  std::string bench_signature_;
};

}  // namespace vernier
