#include "blame/judge/total_errors.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "blame/judge/padded_tensors.h"
#include "blame/judge/tensor_judge.h"
#include "compare/functions/comparator.h"
#include "run/figures/pair_recorder.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// All but errors and magnitudes.
BlameLayerRecord DescribeLayer(const BlameGraph& graph, const Island& island) {
  BlameLayerRecord layer;
  const uint32_t target = island.nodes.back();
  layer.node = graph.NodeName(target);
  layer.op_type = std::string(graph.graph().nodes[target].op_type);
  return layer;
}

BlameTensorRecord DescribeTensor(const NamedTensor& reference, std::string_view name,
                                 const Tensor& candidate) {
  BlameTensorRecord tensor;
  tensor.name = reference.name;
  if (name != tensor.name) tensor.candidate_name = std::string(name);
  tensor.dtype = std::string(DTypeName(candidate.dtype()));
  tensor.shape = candidate.dims();
  const DType ours = reference.tensor.dtype();
  if (ours != candidate.dtype()) tensor.reference_dtype = DTypeName(ours);
  return tensor;
}

// Why its error is infinite; of the first output that has another shape.
void NoteShapes(const NamedTensor& reference, const Tensor& candidate, BlameLayerRecord& layer) {
  if (reference.tensor.dims() == candidate.dims() || !layer.evidence.empty()) return;
  layer.evidence = "the shapes of '" + reference.name +
                   "' differ: " + FormatDims(candidate.dims()) + ", and " +
                   FormatDims(reference.tensor.dims()) + " in the reference";
}

}  // namespace

MetTensors MeetTensors(std::span<const Island> islands, const TensorPairs& pairs,
                       const TensorsByName& reference, const TensorsByName& candidate) {
  MetTensors met;
  for (const Island& island : islands) {
    for (const std::string_view name : island.outputs) {
      met.reference.push_back({*pairs.Find(name), reference.at(name)});
      met.names.push_back(name);
      met.candidate.push_back(candidate.at(name));
    }
  }
  return met;
}

std::vector<BlameLayerRecord> JudgeTotals(const BlameGraph& graph, std::span<const Island> islands,
                                          const MetTensors& met, const ErrorBounds& bounds,
                                          ThreadPool& threads, PaddedTensors* padded) {
  std::vector<JudgedPair> pairs;
  for (size_t i = 0; i < met.names.size(); ++i) {
    const ErrorBound* bound = bounds.Find(met.reference[i].name);
    pairs.push_back({&met.reference[i].tensor, &met.candidate[i], bound ? *bound : ErrorBound()});
  }
  std::vector<JudgedPair> counted = pairs;
  for (size_t i = 0; padded != nullptr && i < pairs.size(); ++i) {
    padded->Reduce(met.names[i], counted[i]);
  }
  const std::vector<TensorJudgement> judged = JudgeTensors(counted, threads);
  std::vector<MagnitudeRecord> magnitudes(2 * pairs.size());
  threads.Run(magnitudes.size(), [&](size_t i, size_t) {
    magnitudes[i] =
        RecordMagnitudes(i % 2 == 0 ? *pairs[i / 2].reference : *pairs[i / 2].candidate);
  });
  std::vector<BlameLayerRecord> layers;
  size_t next = 0;
  for (const Island& island : islands) {
    BlameLayerRecord& layer = layers.emplace_back(DescribeLayer(graph, island));
    for (size_t k = 0; k < island.outputs.size(); ++k, ++next) {
      BlameTensorRecord tensor =
          DescribeTensor(met.reference[next], met.names[next], met.candidate[next]);
      tensor.total_error = judged[next].times;
      tensor.total_rms = judged[next].rms;
      tensor.total_bound = pairs[next].bound.rms;
      tensor.bound_why = pairs[next].bound.why;
      tensor.reference = magnitudes[2 * next];
      tensor.candidate = magnitudes[2 * next + 1];
      NoteShapes(met.reference[next], met.candidate[next], layer);
      layer.total_error = std::max(layer.total_error, judged[next].times);
      layer.outputs.push_back(std::move(tensor));
    }
  }
  return layers;
}

void CompareForCharts(const MetTensors& met, const ErrorBounds& bounds,
                      const CompareOptions& options, ThreadPool& threads,
                      std::span<BlameLayerRecord> layers) {
  CompareOptions by_bounds = options;
  by_bounds.tolerance.fallback = ToleranceRule::kAuto;
  ComparisonDetail detail;
  detail.differences = detail.sides = StatisticsLevel::kMoments;
  detail.distances = true;
  detail.pool = &threads;
  detail.bounds = &bounds;
  size_t next = 0;
  for (BlameLayerRecord& layer : layers) {
    for (BlameTensorRecord& tensor : layer.outputs) {
      const NamedTensor& ours = met.reference[next];
      IterationComparison comparison;
      comparison.outputs.push_back(
          CompareOutputs(ours, {ours.name, met.candidate[next]}, by_bounds, detail));
      PairRecorder recorder("", "", Charts::kWanted);
      recorder.Add(comparison, 0);
      tensor.compared =
          std::make_shared<const OutputRecord>(std::move(recorder.Finish(1).outputs.front()));
      ++next;
    }
  }
}

}  // namespace vernier
