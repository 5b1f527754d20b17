// How far the tensors of a batch of layers are apart on both sides: their total errors.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/sides/reference_probe.h"
#include "compare/functions/error_bound.h"
#include "util/threads/thread_pool.h"
#include "vernier/blame_record.h"

namespace vernier {

struct CompareOptions;
class PaddedTensors;

/// The outputs of a batch's islands, layer by layer, on both sides. Places are the same in all.
struct MetTensors {
  TensorMap reference;                  ///< with the reference's names
  std::vector<std::string_view> names;  ///< the candidate's
  std::vector<Tensor> candidate;
};

/// `reference` and `candidate` have all outputs of the islands.
MetTensors MeetTensors(std::span<const Island> islands, const TensorPairs& pairs,
                       const TensorsByName& reference, const TensorsByName& candidate);

/// One layer for each island, with the names, types and shapes of its outputs, their total errors
/// by `bounds` and their magnitudes. `met` are the tensors of these islands, of which `padded` (may
/// be null) leaves positions out.
std::vector<BlameLayerRecord> JudgeTotals(const BlameGraph& graph, std::span<const Island> islands,
                                          const MetTensors& met, const ErrorBounds& bounds,
                                          ThreadPool& threads, PaddedTensors* padded = nullptr);

/// Compares each tensor as `run` compares outputs, for a page: fills `compared` of the outputs of
/// `layers`, which JudgeTotals made of `met`.
void CompareForCharts(const MetTensors& met, const ErrorBounds& bounds,
                      const CompareOptions& options, ThreadPool& threads,
                      std::span<BlameLayerRecord> layers);

}  // namespace vernier
