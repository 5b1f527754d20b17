// One batch of layers: the tensors of both sides, total errors, and own errors from islands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "blame/probe/layer_probe.h"
#include "blame/probe/layers_alone.h"
#include "blame/sides/side_error_bounds.h"
#include "vernier/blame_record.h"
#include "vernier/compare_options.h"

namespace vernier {

/// What one feed showed of a batch.
struct BatchFindings {
  /// In the order of targets; those without a tensor that both sides expose are left out, all of
  /// them if a side returns nothing.
  std::vector<BlameLayerRecord> layers;
  TensorMap outputs;                ///< see ProbedTensors
  std::vector<std::string> probes;  ///< likewise
};

class LayerBatch {
 public:
  /// `targets` are nodes in order. `findings` of the batches before, which this one extends; it
  /// outlives it.
  LayerBatch(const BatchSetup& setup, std::vector<uint32_t> targets, TensorFindings& findings);

  /// One feed; sessions stay open for the next one where the memory allows it. kCancelled, and
  /// kMalformed for a damaged file of saved outputs, or one that was made from other inputs.
  Result<BatchFindings> Run(const TensorMap& feed, int64_t iteration);

 private:
  std::vector<BlameLayerRecord> Judge(const ProbedTensors& probed, const TensorMap& feed,
                                      PaddedTensors& padded);
  // Of those that exceed their bounds.
  void JudgeByValues(const ProbedTensors& probed, PaddedTensors& padded,
                     std::span<BlameLayerRecord> layers);
  // Sessions of the batch before are closed where its islands or their inputs are others.
  void TakeIslands(const LayerIslands& islands, const TensorsByName& reference);
  Status RunAlone(const SideSources& sources, const TensorLookup& declared,
                  std::vector<BlameLayerRecord>& layers);

  const BatchSetup setup_;
  const CompareOptions compare_;  // tensors are judged by error bounds
  TensorFindings& findings_;
  PairErrorBounds bounds_;
  LayerProbe probe_;
  std::optional<LayersAlone> alone_, fused_;  // of the last feed's islands
  std::string signature_;                     // of the tensors that these were made for
};

}  // namespace vernier
