#include "blame/probe/layer_batch.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "blame/judge/amplified_rounding.h"
#include "blame/judge/non_finite.h"
#include "blame/judge/padded_tensors.h"
#include "blame/judge/quantiser_range.h"
#include "blame/judge/total_errors.h"
#include "blame/sides/runtime_clock.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

BenchArithmetic ArithmeticOf(const PairErrorBounds& bounds) {
  return {bounds.ArithmeticOn(kReferenceStream, kCandidateStream),
          bounds.ArithmeticOn(kCandidateStream, kCandidateStream)};
}

std::vector<Dim> ToShape(const Dims& dims) {
  std::vector<Dim> shape;
  for (const int64_t dim : dims) shape.push_back({dim, {}});
  return shape;
}

// What follows from the inputs alone has another shape only where they are others.
Status CheckSavedShapes(const BatchSetup& setup, const ProbedTensors& probed) {
  if (setup.reference.live != nullptr) return {};
  const BlameGraph& graph = setup.subject.graph();
  for (const Island& island : probed.islands.alone) {
    const auto inputs = graph.InputsOf(island);
    const bool first = std::all_of(inputs.begin(), inputs.end(),
                                   [&](std::string_view name) { return graph.IsInput(name); });
    for (const std::string_view name : island.outputs) {
      const Dims &ours = probed.reference.at(name).dims(),
                 &theirs = probed.candidate.at(name).dims();
      if (!first || ours == theirs) continue;
      return Malformed("the saved tensor '" + *setup.reference.pairs.Find(name) +
                       "' has the shape " + FormatDims(ours) + ", and from these inputs '" +
                       setup.subject.sides.candidate.plan().name + "' makes " + FormatDims(theirs) +
                       ": --load-inputs and --load-outputs must come from the same run");
    }
  }
  return {};
}

TensorSource From(const TensorsByName& tensors, const TensorMap& feed) {
  return [&tensors, &feed](std::string_view name) -> const Tensor* {
    const auto found = tensors.find(name);
    return found != tensors.end() ? &found->second : Find(feed, name);
  };
}

// How islands declare what they are fed with: the candidate's types, the reference's shapes.
TensorLookup DeclaredAs(const SideSources& sources, const OnnxGraph& graph) {
  return [&sources, &graph](std::string_view name) {
    TensorInfo info;
    info.name = std::string(name);
    const Tensor* ours = sources.reference(name);
    const Tensor* theirs = sources.candidate(name);
    if (theirs != nullptr) info.dtype = theirs->dtype();
    // One feed serves models of several float types.
    for (const OnnxValue& input : graph.inputs) {
      if (input.name == name && input.dtype != DType::kUndefined) info.dtype = input.dtype;
    }
    if (ours != nullptr) info.shape = ToShape(ours->dims());
    return info;
  };
}

// Without those that only make constants; empty for a single one.
std::vector<std::string> NodesOf(const BlameGraph& graph, const Island& island) {
  std::vector<std::string> names;
  for (const uint32_t node : island.nodes) {
    const auto outputs = graph.graph().Outputs(graph.graph().nodes[node]);
    const bool constant = !outputs.empty() && graph.IsConstant(outputs[0]);
    if (!constant) names.push_back(graph.NodeName(node));
  }
  if (names.size() == 1) names.clear();
  return names;
}

void NameGroups(const BlameGraph& graph, const LayerIslands& islands,
                std::span<BlameLayerRecord> layers) {
  for (size_t i = 0; i < islands.alone.size(); ++i) {
    for (const std::string_view name : graph.InputsOf(islands.alone[i])) {
      layers[i].inputs.emplace_back(name);
    }
    layers[i].group = NodesOf(graph, islands.alone[i]);
  }
  for (const LayerIsland& fused : islands.fused) {
    layers[fused.layer].fused = NodesOf(graph, fused.island);
  }
}

void LowerTotals(const BlameLayerRecord& again, BlameLayerRecord& layer) {
  layer.total_error = 0;
  for (size_t k = 0; k < layer.outputs.size(); ++k) {
    BlameTensorRecord& tensor = layer.outputs[k];
    if (again.outputs[k].total_error < tensor.total_error) {
      tensor.total_error = again.outputs[k].total_error;
      tensor.total_bound = again.outputs[k].total_bound;
      tensor.bound_why = again.outputs[k].bound_why;
    }
    layer.total_error = std::max(layer.total_error, tensor.total_error);
  }
}

void LogTimes(double fetched, double judged, double alone, Logger& logger) {
  logger.Verbose("Took " + FormatG(fetched, 2) + " s for the tensors of both sides, " +
                 FormatG(judged, 2) + " s for their total errors, " + FormatG(alone, 2) +
                 " s for the layers alone");
}

}  // namespace

LayerBatch::LayerBatch(const BatchSetup& setup, std::vector<uint32_t> targets,
                       TensorFindings& findings)
    : setup_(setup),
      findings_(findings),
      bounds_(MakeSideBounds(compare_, setup.subject.unprobed.runners())),
      probe_(setup, std::move(targets), findings) {}

std::vector<BlameLayerRecord> LayerBatch::Judge(const ProbedTensors& probed, const TensorMap& feed,
                                                PaddedTensors& padded) {
  const std::vector<Island>& islands = probed.islands.alone;
  const MetTensors met =
      MeetTensors(islands, setup_.reference.pairs, probed.reference, probed.candidate);
  bounds_.SetFeed(feed);
  bounds_.KeepFeed(feed, 0);
  const ErrorBounds& bounds = bounds_.For(kReferenceStream, kCandidateStream, met.reference);
  std::vector<BlameLayerRecord> layers =
      JudgeTotals(setup_.subject.graph(), islands, met, bounds, setup_.threads, &padded);
  if (setup_.subject.plan.charts) CompareForCharts(met, bounds, compare_, setup_.threads, layers);
  size_t next = 0;
  for (const BlameLayerRecord& layer : layers) {
    for (const BlameTensorRecord& tensor : layer.outputs) {
      if (tensor.total_error > 1) findings_.disputed.insert(met.names[next]);
      ++next;
    }
  }
  return layers;
}

// What exceeds its bound may do so because operators before it amplify rounding, as values show.
void LayerBatch::JudgeByValues(const ProbedTensors& probed, PaddedTensors& padded,
                               std::span<BlameLayerRecord> layers) {
  const auto is_over = [](const BlameLayerRecord& layer) { return layer.total_error > 1; };
  if (std::ranges::none_of(layers, is_over)) return;
  const std::vector<Island>& islands = probed.islands.alone;
  const MetTensors met =
      MeetTensors(islands, setup_.reference.pairs, probed.reference, probed.candidate);
  TensorMap candidate;
  for (size_t i = 0; i < met.candidate.size(); ++i) {
    candidate.push_back({met.reference[i].name, met.candidate[i]});
  }
  const ErrorBounds& bounds =
      bounds_.For(kReferenceStream, kCandidateStream, met.reference, candidate);
  const std::vector<BlameLayerRecord> again =
      JudgeTotals(setup_.subject.graph(), islands, met, bounds, setup_.threads, &padded);
  for (size_t i = 0; i < layers.size(); ++i) {
    if (is_over(layers[i])) LowerTotals(again[i], layers[i]);
  }
}

void LayerBatch::TakeIslands(const LayerIslands& islands, const TensorsByName& reference) {
  std::string signature;
  for (const auto& [name, tensor] : reference) {
    signature += std::string(name) + FormatDims(tensor.dims());
  }
  const bool same = alone_ && signature == signature_ && alone_->size() == islands.alone.size() &&
                    fused_->size() == islands.fused.size();
  if (same) return;
  const AlonePlace place{setup_.subject.graph(), setup_.subject.sides.alone, ArithmeticOf(bounds_),
                         setup_.threads};
  std::vector<LayerIsland> alone;
  for (size_t i = 0; i < islands.alone.size(); ++i) alone.push_back({i, islands.alone[i]});
  alone_.emplace(AloneAs::kNodes, place, std::move(alone));
  fused_.emplace(AloneAs::kFused, place, islands.fused);
  signature_ = signature;
}

// One set of sessions after the other: each holds the model's weights.
Status LayerBatch::RunAlone(const SideSources& sources, const TensorLookup& declared,
                            std::vector<BlameLayerRecord>& layers) {
  VERNIER_TRY(alone_->Run(sources, declared, setup_.memory.after_use, layers));
  return fused_->Run(sources, declared, setup_.memory.after_use, layers);
}

Result<BatchFindings> LayerBatch::Run(const TensorMap& feed, int64_t iteration) {
  const SearchSubject& subject = setup_.subject;
  const BlameGraph& graph = subject.graph();
  StepClock steps;
  VERNIER_ASSIGN_OR_RETURN(ProbedTensors probed, probe_.Fetch(feed, iteration));
  const double fetched = steps.Take();
  VERNIER_TRY(CheckSavedShapes(setup_, probed));
  PaddedTensors padded(subject.unprobed.outputs.masked(), feed);
  std::vector<BlameLayerRecord> layers = Judge(probed, feed, padded);
  const double judged = steps.Take();
  // Constants that differ are fed, so that only the node that makes them is blamed.
  const LayerIslands islands = probe_.FindIslands();
  TakeIslands(islands, probed.reference);
  NameGroups(graph, islands, layers);
  const SideSources sources{From(probed.reference, feed), From(probed.candidate, feed),
                            &subject.unprobed.fused_away, &padded};
  VERNIER_TRY(RunAlone(sources, DeclaredAs(sources, graph.graph()), layers));
  LogTimes(fetched, judged, steps.Take(), subject.context.logger);
  if (subject.unprobed.quantises_alone) {
    for (size_t i = 0; i < islands.alone.size(); ++i) {
      if (layers[i].own_error.value_or(0) <= 1 || !layers[i].evidence.empty()) continue;
      layers[i].evidence = DescribeMisfits(graph, islands.alone[i], sources.reference);
    }
  }
  EaseTotals(layers, findings_.amplified);
  JudgeByValues(probed, padded, layers);
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].iteration = iteration;
    if (findings_.first_nonfinite) continue;
    findings_.first_nonfinite = MadeNonFinite(layers[i], graph, islands.alone[i], sources);
  }
  return BatchFindings{std::move(layers), std::move(probed.outputs), std::move(probed.probes)};
}

}  // namespace vernier
