// The layers of a batch run alone by the candidate: the errors that they make by themselves.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/judge/non_finite.h"
#include "blame/judge/tensor_judge.h"
#include "blame/sides/island_bench.h"
#include "util/threads/thread_pool.h"
#include "vernier/blame_record.h"

namespace vernier {

/// A node by itself, or with those that the candidate computes together with it.
enum class AloneAs { kNodes, kFused };

/// Where layers run alone. All must outlive what is made with it.
struct AlonePlace {
  const BlameGraph& graph;
  ProbeSide& side;
  BenchArithmetic arithmetic;
  ThreadPool& threads;
};

class LayersAlone {
 public:
  LayersAlone(AloneAs as, const AlonePlace& place, std::vector<LayerIsland> islands);

  size_t size() const { return layers_.size(); }

  /// Adds to `layers` the errors that their islands make on the reference's tensors, and where
  /// these explain nothing, how far they are within the model from what they do alone, if their
  /// tensors are of one session. Eased where the inputs cancel. Those of single nodes must precede
  /// those of fused ones. `declared` is how the islands' models declare what they are fed.
  /// kCancelled.
  Status Run(const SideSources& sources, const TensorLookup& declared, AfterUse after_use,
             std::span<BlameLayerRecord> layers);

 private:
  struct Place {
    size_t island;
    size_t output;
  };
  Status Measure(const IslandFeed& reference, PaddedTensors* padded,
                 std::span<BlameLayerRecord> layers);
  void Note(Place place, const TensorJudgement& judged, const ErrorBound& bound,
            BlameLayerRecord& layer) const;
  bool IsWantedInPlace(const BlameLayerRecord& layer) const;
  bool IsOfOneSession(size_t island, const SideSources& sources) const;
  Status MeasureInPlace(const SideSources& sources, const TensorLookup& declared,
                        std::span<BlameLayerRecord> layers);
  Status AllowForConditions(const IslandFeed& reference, std::span<BlameLayerRecord> layers);
  bool Quantises(const Island& island) const;

  const bool fused_;
  const std::vector<size_t> layers_;  // of the islands
  const BlameGraph& graph_;
  ProbeSide& side_;
  IslandBench bench_;
  ThreadPool& threads_;
};

}  // namespace vernier
