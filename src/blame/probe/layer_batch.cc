#include "blame/probe/layer_batch.h"

#include <algorithm>
#include <utility>

#include "blame/judge/non_finite.h"
#include "blame/judge/quantiser_range.h"
#include "compare/comparator.h"
#include "run/comparison/pair_recorder.h"

namespace vernier {
namespace {

constexpr int kMostBatchRounds = 8;

BenchArithmetic ArithmeticOf(const PairErrorBounds& bounds) {
  return {bounds.ArithmeticOn(kReferenceStream, kCandidateStream),
          bounds.ArithmeticOn(kCandidateStream, kCandidateStream)};
}

std::vector<Dim> ToShape(const Dims& dims) {
  std::vector<Dim> shape;
  for (const int64_t dim : dims) shape.push_back({dim, {}});
  return shape;
}

}  // namespace

LayerBatch::LayerBatch(const BlameScene& scene, std::vector<uint32_t> targets)
    : scene_(scene),
      targets_(std::move(targets)),
      bounds_(MakeSideBounds(*scene.compare, scene.runners)),
      reference_probe_(scene.reference, *scene.unexposed, scene.after_use),
      candidate_sessions_(*scene.candidate, *scene.unexposed, scene.after_use),
      alone_(AloneAs::kNodes, *scene.graph, *scene.alone, ArithmeticOf(bounds_), *scene.threads),
      fused_(AloneAs::kFused, *scene.graph, *scene.alone, ArithmeticOf(bounds_), *scene.threads) {}

void LayerBatch::FindIslands() {
  const BlameGraph& graph = *scene_.graph;
  islands_ = graph.Islands(targets_, *scene_.visible, *scene_.disputed);
  std::erase_if(islands_, [](const Island& island) { return island.outputs.empty(); });
  fused_islands_ =
      FindFusedIslands(graph, islands_, *scene_.visible, *scene_.disputed, *scene_.fused_away);
}

// Outputs of the islands, and what they are fed with.
std::vector<std::string_view> LayerBatch::Wanted() const {
  std::vector<std::string_view> names;
  NameSet seen;
  const auto add = [&](std::string_view name) {
    if (scene_.visible->contains(name) && seen.insert(name).second) names.push_back(name);
  };
  const auto add_of = [&](const Island& island) {
    for (const std::string_view name : scene_.graph->InputsOf(island)) add(name);
    for (const std::string_view name : island.outputs) add(name);
  };
  for (const Island& island : islands_) add_of(island);
  for (const LayerIsland& fused : fused_islands_) add_of(fused.island);
  return names;
}

Status LayerBatch::ProbeCandidate(const std::vector<std::string_view>& names,
                                  const TensorMap& feed) {
  // What a fusion has swallowed is asked for in a session of its own, so that the others are as
  // they are without probes.
  std::vector<std::string> wanted, fused_away;
  for (const std::string_view name : names) {
    (scene_.fused_away->contains(name) ? fused_away : wanted).emplace_back(name);
  }
  if (probed_outputs_.empty()) probes_ = wanted;
  for (const std::string& output : scene_.outputs) {
    const bool known = std::find(names.begin(), names.end(), output) != names.end() ||
                       Find(probed_outputs_, output) != nullptr;
    if (!known) wanted.push_back(output);
  }
  candidate_sessions_.Want(wanted);
  candidate_sessions_.Want(fused_away);
  wanted.insert(wanted.end(), fused_away.begin(), fused_away.end());
  VERNIER_ASSIGN_OR_RETURN(const TensorMap outputs, candidate_sessions_.Run(feed, wanted));
  for (const std::string& output : scene_.outputs) {
    const Tensor* tensor = Find(outputs, output);
    if (tensor == nullptr || Find(probed_outputs_, output) != nullptr) continue;
    probed_outputs_.push_back({output, *tensor});
  }
  std::unordered_map<std::string_view, const Tensor*> by_name;
  for (const NamedTensor& output : outputs) by_name[output.name] = &output.tensor;
  for (const std::string_view name : names) {
    const auto found = by_name.find(name);
    if (found != by_name.end()) candidate_[name] = *found->second;
  }
  return {};
}

void LayerBatch::DropInvisible(const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    if (!reference_.contains(name) || !candidate_.contains(name)) scene_.visible->erase(name);
  }
}

// Where a tensor cannot be had, an island grows and may read others. One that lacks an input even
// after the last round cannot be run, and says so.
Status LayerBatch::Probe(const TensorMap& feed, int64_t iteration) {
  reference_.clear();
  candidate_.clear();
  probed_outputs_.clear();
  for (int round = 0; round < kMostBatchRounds; ++round) {
    FindIslands();
    std::vector<std::string_view> missing = Wanted();
    std::erase_if(missing, [&](std::string_view name) { return candidate_.contains(name); });
    if (missing.empty()) return {};
    if (scene_.side_by_side) reference_probe_.Begin(missing, feed);
    VERNIER_TRY(ProbeCandidate(missing, feed));
    VERNIER_TRY(reference_probe_.Fetch(missing, feed, iteration, reference_));
    DropInvisible(missing);
  }
  FindIslands();
  return {};
}

// What follows from the inputs alone has another shape only where they are others.
Status LayerBatch::CheckSavedShapes() const {
  if (scene_.reference.live != nullptr) return {};
  const BlameGraph& graph = *scene_.graph;
  for (const Island& island : islands_) {
    const auto inputs = graph.InputsOf(island);
    const bool first = std::all_of(inputs.begin(), inputs.end(),
                                   [&](std::string_view name) { return graph.IsInput(name); });
    for (const std::string_view name : island.outputs) {
      const Dims &ours = reference_.at(name).dims(), &theirs = candidate_.at(name).dims();
      if (!first || ours == theirs) continue;
      return Malformed("the saved tensor '" + *scene_.reference.pairs->Find(name) +
                       "' has the shape " + FormatDims(ours) + ", and from these inputs '" +
                       scene_.candidate->plan().name + "' makes " + FormatDims(theirs) +
                       ": --load-inputs and --load-outputs have to come from one run");
    }
  }
  return {};
}

// All but errors and magnitudes.
void LayerBatch::DescribeTotals() {
  for (const Island& island : islands_) {
    BlameLayerRecord layer;
    const uint32_t target = island.nodes.back();
    layer.node = scene_.graph->NodeName(target);
    layer.op_type = std::string(scene_.graph->graph().nodes[target].op_type);
    for (const std::string_view name : island.outputs) {
      BlameTensorRecord tensor;
      tensor.name = *scene_.reference.pairs->Find(name);
      if (name != tensor.name) tensor.candidate_name = std::string(name);
      tensor.dtype = std::string(DTypeName(candidate_.at(name).dtype()));
      tensor.shape = candidate_.at(name).dims();
      const DType ours = reference_.at(name).dtype();
      if (ours != candidate_.at(name).dtype()) tensor.reference_dtype = DTypeName(ours);
      layer.outputs.push_back(std::move(tensor));
    }
    layers_.push_back(std::move(layer));
  }
}

// As `run` compares outputs.
void LayerBatch::CompareForCharts(std::span<const NamedTensor> ours,
                                  std::span<const std::string_view> names,
                                  const ErrorBounds& bounds) {
  CompareOptions options = *scene_.compare;
  options.tolerance.fallback = ToleranceRule::kAuto;
  ComparisonDetail detail;
  detail.differences = detail.sides = StatisticsLevel::kMoments;
  detail.distances = true;
  detail.pool = scene_.threads;
  detail.bounds = &bounds;
  size_t next = 0;
  for (BlameLayerRecord& layer : layers_) {
    for (BlameTensorRecord& tensor : layer.outputs) {
      IterationComparison comparison;
      comparison.outputs.push_back(CompareOutputs(
          ours[next], {ours[next].name, candidate_.at(names[next])}, options, detail));
      PairRecorder recorder("", "", Charts::kWanted);
      recorder.Add(comparison);
      tensor.compared =
          std::make_shared<const OutputRecord>(std::move(recorder.Finish(1).outputs.front()));
      ++next;
    }
  }
}

void LayerBatch::JudgeTotals(const TensorMap& feed) {
  bounds_.SetFeed(feed);
  DescribeTotals();
  TensorMap ours;
  std::vector<std::string_view> names;
  for (const Island& island : islands_) {
    for (const std::string_view name : island.outputs) {
      ours.push_back({*scene_.reference.pairs->Find(name), reference_.at(name)});
      names.push_back(name);
    }
  }
  const ErrorBounds& bounds = bounds_.For(kReferenceStream, kCandidateStream, ours);
  std::vector<JudgedPair> all;
  for (size_t i = 0; i < names.size(); ++i) {
    const ErrorBound* bound = bounds.Find(ours[i].name);
    all.push_back({&ours[i].tensor, &candidate_.at(names[i]), bound ? *bound : ErrorBound()});
  }
  const std::vector<TensorJudgement> judged = JudgeTensors(all, *scene_.threads);
  std::vector<MagnitudeRecord> magnitudes(2 * all.size());
  scene_.threads->Run(magnitudes.size(), [&](size_t i, size_t) {
    magnitudes[i] = RecordMagnitudes(i % 2 == 0 ? *all[i / 2].reference : *all[i / 2].candidate);
  });
  size_t next = 0;
  for (BlameLayerRecord& layer : layers_) {
    for (BlameTensorRecord& tensor : layer.outputs) {
      const double times = judged[next].times;
      tensor.total_error = times;
      tensor.total_rms = judged[next].rms;
      tensor.total_bound = all[next].bound.rms;
      tensor.bound_why = all[next].bound.why;
      tensor.reference = magnitudes[2 * next];
      tensor.candidate = magnitudes[2 * next + 1];
      layer.total_error = std::max(layer.total_error, times);
      if (times > 1) scene_.disputed->insert(names[next]);
      ++next;
    }
  }
  if (scene_.charts) CompareForCharts(ours, names, bounds);
}

TensorSource LayerBatch::From(const TensorsByName& tensors, const TensorMap& feed) const {
  return [&tensors, &feed](std::string_view name) -> const Tensor* {
    const auto found = tensors.find(name);
    return found != tensors.end() ? &found->second : Find(feed, name);
  };
}

TensorLookup LayerBatch::AsFed() const {
  return [this](std::string_view name) {
    TensorInfo info;
    info.name = std::string(name);
    const Tensor* ours = From(reference_, *feed_)(name);
    const Tensor* theirs = From(candidate_, *feed_)(name);
    if (theirs != nullptr) info.dtype = theirs->dtype();
    // One feed serves models of several float types.
    for (const OnnxValue& input : scene_.graph->graph().inputs) {
      if (input.name == name && input.dtype != DType::kUndefined) info.dtype = input.dtype;
    }
    if (ours != nullptr) info.shape = ToShape(ours->dims());
    return info;
  };
}

// Without those that only make constants; empty for a single one.
std::vector<std::string> LayerBatch::NodesOf(const Island& island) const {
  const BlameGraph& graph = *scene_.graph;
  std::vector<std::string> names;
  for (const uint32_t node : island.nodes) {
    const auto outputs = graph.graph().Outputs(graph.graph().nodes[node]);
    const bool constant = !outputs.empty() && graph.IsConstant(outputs[0]);
    if (!constant) names.push_back(graph.NodeName(node));
  }
  if (names.size() == 1) names.clear();
  return names;
}

void LayerBatch::NameGroups() {
  for (size_t i = 0; i < islands_.size(); ++i) {
    for (const std::string_view name : scene_.graph->InputsOf(islands_[i])) {
      layers_[i].inputs.emplace_back(name);
    }
    layers_[i].group = NodesOf(islands_[i]);
  }
  for (const LayerIsland& fused : fused_islands_) {
    layers_[fused.layer].fused = NodesOf(fused.island);
  }
}

void LayerBatch::TakeIslands() {
  // Constants that differ are fed, so that only the node that makes them is blamed.
  FindIslands();
  std::string signature;
  for (const auto& [name, tensor] : reference_) {
    signature += std::string(name) + FormatDims(tensor.dims());
  }
  const bool same = signature == signature_ && alone_.size() == islands_.size() &&
                    fused_.size() == fused_islands_.size();
  if (same) return;
  std::vector<LayerIsland> islands;
  for (size_t i = 0; i < islands_.size(); ++i) islands.push_back({i, islands_[i]});
  alone_.Take(std::move(islands), AsFed());
  fused_.Take(fused_islands_, AsFed());
  signature_ = signature;
}

void LayerBatch::NoteMisfits() {
  for (size_t i = 0; i < islands_.size(); ++i) {
    if (layers_[i].own_error.value_or(0) <= 1) continue;
    layers_[i].evidence = DescribeMisfits(*scene_.graph, islands_[i], From(reference_, *feed_));
  }
}

Result<std::vector<BlameLayerRecord>> LayerBatch::Run(const TensorMap& feed, int64_t iteration) {
  feed_ = &feed;
  layers_.clear();
  VERNIER_TRY(Probe(feed, iteration));
  VERNIER_TRY(CheckSavedShapes());
  JudgeTotals(feed);
  TakeIslands();
  NameGroups();
  const SideSources sources{From(reference_, feed), From(candidate_, feed), scene_.fused_away};
  // One set of sessions after the other: each holds the model's weights.
  VERNIER_TRY(alone_.Run(sources, AsFed(), scene_.after_use, layers_));
  VERNIER_TRY(fused_.Run(sources, AsFed(), scene_.after_use, layers_));
  if (scene_.runners.quantises_alone) NoteMisfits();
  EaseTotals(layers_, *scene_.amplified);
  for (size_t i = 0; i < layers_.size(); ++i) {
    layers_[i].iteration = iteration;
    if (*scene_.first_nonfinite) continue;
    *scene_.first_nonfinite = MadeNonFinite(layers_[i], *scene_.graph, islands_[i], sources);
  }
  return std::move(layers_);
}

}  // namespace vernier
