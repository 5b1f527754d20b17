#include "blame/probe/layers_alone.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "blame/judge/amplified_rounding.h"
#include "blame/judge/conditioning.h"
#include "blame/judge/padded_tensors.h"
#include "blame/judge/tensor_judge.h"

namespace vernier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void Raise(double to, std::optional<double>& error) { error = std::max(error.value_or(0), to); }

// Neither by itself nor fused is it anything wrong that a layer makes of this output.
bool IsRightAlone(const BlameTensorRecord& tensor) {
  return tensor.own_error.value_or(kInfinity) <= 1 && tensor.fused_error.value_or(0) <= 1;
}

std::vector<size_t> LayersOf(const std::vector<LayerIsland>& islands) {
  std::vector<size_t> layers;
  for (const LayerIsland& island : islands) layers.push_back(island.layer);
  return layers;
}

std::vector<Island> IslandsOf(std::vector<LayerIsland> islands) {
  std::vector<Island> alone;
  for (LayerIsland& island : islands) alone.push_back(std::move(island.island));
  return alone;
}

}  // namespace

LayersAlone::LayersAlone(AloneAs as, const AlonePlace& place, std::vector<LayerIsland> islands)
    : fused_(as == AloneAs::kFused),
      layers_(LayersOf(islands)),
      graph_(place.graph),
      side_(place.side),
      bench_(place.graph, place.side, place.arithmetic, IslandsOf(std::move(islands))),
      threads_(place.threads) {}

void LayersAlone::Note(Place place, const TensorJudgement& judged, const ErrorBound& bound,
                       BlameLayerRecord& layer) const {
  BlameTensorRecord& tensor = layer.outputs[place.output];
  if (fused_) {
    tensor.fused_error = judged.times;
    return Raise(judged.times, layer.fused_error);
  }
  tensor.own_error = judged.times;
  tensor.own_rms = judged.rms;
  tensor.own_bound = bound.rms;
  tensor.bound_why = bound.why;
  Raise(judged.times, layer.own_error);
}

Status LayersAlone::Measure(const IslandFeed& reference, PaddedTensors* padded,
                            std::span<BlameLayerRecord> layers) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<IslandResult> results, bench_.Run(reference));
  std::vector<JudgedPair> pairs;
  std::vector<Place> places;
  for (size_t i = 0; i < results.size(); ++i) {
    BlameLayerRecord& layer = layers[layers_[i]];
    if (!fused_) layer.own_missing = results[i].missing;
    for (size_t k = 0; k < results[i].outputs.size(); ++k) {
      const Tensor* alone = results[i].outputs[k];
      if (alone != nullptr) {
        const Tensor* ours = reference.values(bench_.islands()[i].outputs[k]);
        pairs.push_back({ours, alone, bench_.BoundOf(i, k, *alone)});
        if (padded != nullptr) padded->Reduce(bench_.islands()[i].outputs[k], pairs.back());
        places.push_back({i, k});
      } else if (!fused_) {
        layer.own_missing = "its output is not exposed when it runs alone";
      }
    }
  }
  const std::vector<TensorJudgement> judged = JudgeTensors(pairs, threads_);
  for (size_t i = 0; i < pairs.size(); ++i) {
    Note(places[i], judged[i], pairs[i].bound, layers[layers_[places[i].island]]);
  }
  bench_.DropResults();
  return {};
}

// An output that errs although it is right alone asks for it, whatever the others do.
bool LayersAlone::IsWantedInPlace(const BlameLayerRecord& layer) const {
  return layer.fused.empty() != fused_ &&
         std::any_of(layer.outputs.begin(), layer.outputs.end(), [](const auto& tensor) {
           return tensor.total_error > 1 && IsRightAlone(tensor);
         });
}

// Inputs and outputs of two sessions may differ although the node is right: another session has
// other kernels, and an error that came in before may have grown otherwise.
bool LayersAlone::IsOfOneSession(size_t island, const SideSources& sources) const {
  if (sources.apart == nullptr) return true;
  bool apart = false, along = false;
  const auto note = [&](std::string_view name) {
    (sources.apart->contains(name) ? apart : along) = true;
  };
  for (const std::string_view name : bench_.InputsOf(island)) {
    if (!graph_.IsInput(name) && !graph_.IsConstant(name)) note(name);
  }
  for (const std::string_view name : bench_.islands()[island].outputs) note(name);
  return !(apart && along);
}

// Whether nodes do the same alone as within the model: as they are fused there, if they are.
Status LayersAlone::MeasureInPlace(const SideSources& sources, const TensorLookup& declared,
                                   std::span<BlameLayerRecord> layers) {
  const auto wanted = [this](const BlameLayerRecord& layer) { return IsWantedInPlace(layer); };
  if (std::none_of(layers.begin(), layers.end(), wanted)) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::vector<IslandResult> results,
                           bench_.Run({sources.candidate, declared}));
  for (size_t i = 0; i < results.size(); ++i) {
    BlameLayerRecord& layer = layers[layers_[i]];
    if (!wanted(layer) || !IsOfOneSession(i, sources)) continue;
    for (size_t k = 0; k < results[i].outputs.size(); ++k) {
      const Tensor* alone = results[i].outputs[k];
      BlameTensorRecord& tensor = layer.outputs[k];
      if (alone == nullptr || !IsRightAlone(tensor)) continue;
      const std::string_view name = bench_.islands()[i].outputs[k];
      JudgedPair pair{sources.candidate(name), alone, bench_.BoundOf(i, k, *alone)};
      if (sources.padded != nullptr) sources.padded->Reduce(name, pair);
      tensor.in_place_error = JudgeTensor(*pair.reference, *pair.candidate, pair.bound).times;
      Raise(*tensor.in_place_error, layer.in_place_error);
    }
  }
  bench_.DropResults();
  return {};
}

// A flipped step is no amplified rounding.
bool LayersAlone::Quantises(const Island& island) const {
  return std::any_of(island.nodes.begin(), island.nodes.end(), [this](uint32_t node) {
    return IsQuantiser(graph_.graph().nodes[node].op_type);
  });
}

// Where the inputs cancel, rounding moves the outputs as far as it moves these, and is no fault of
// the node: the bounds are those of well-conditioned nodes.
Status LayersAlone::AllowForConditions(const IslandFeed& reference,
                                       std::span<BlameLayerRecord> layers) {
  std::vector<SuspectIsland> suspects;
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (Quantises(bench_.islands()[i])) continue;
    std::vector<double> errors = MadeErrors(layers[layers_[i]], fused_);
    const bool any = std::any_of(errors.begin(), errors.end(),
                                 [](double e) { return e > 1 && std::isfinite(e); });
    if (any) suspects.push_back({i, std::move(errors)});
  }
  if (suspects.empty()) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::vector<double>> conditions,
                           MeasureConditions(bench_, suspects, reference));
  for (size_t i = 0; i < suspects.size(); ++i) {
    EaseMadeErrors(conditions[i], fused_, layers[layers_[suspects[i].island]]);
  }
  return {};
}

Status LayersAlone::Run(const SideSources& sources, const TensorLookup& declared,
                        AfterUse after_use, std::span<BlameLayerRecord> layers) {
  if (layers_.empty()) return {};
  const IslandFeed reference{sources.reference, declared};
  VERNIER_TRY(Measure(reference, sources.padded, layers));
  VERNIER_TRY(MeasureInPlace(sources, declared, layers));
  VERNIER_TRY(AllowForConditions(reference, layers));
  if (after_use == AfterUse::kKeepOpen) return {};
  bench_.CloseSessions();
  side_.GiveMemoryBack();
  return {};
}

}  // namespace vernier
