#include "blame/judge/amplified_rounding.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "util/text/number_text.h"

namespace vernier {
namespace {

// In-place errors are measured for a node's fusion, or for the node where it has none.
bool InPlaceBelongsTo(bool fused, const BlameLayerRecord& layer) {
  return layer.fused.empty() != fused;
}

// Of a layer that makes no error, but reads what rounding has moved far.
double InheritedCondition(const BlameLayerRecord& layer, const AmplifiedTensors& amplified) {
  const double own = layer.own_error.value_or(std::numeric_limits<double>::infinity());
  if (std::max({own, layer.fused_error.value_or(0), layer.in_place_error.value_or(0)}) > 1)
    return 1;
  double inherited = 1;
  for (const std::string& name : layer.inputs) {
    const auto found = amplified.find(name);
    if (found != amplified.end()) inherited = std::max(inherited, found->second);
  }
  return inherited;
}

// The largest of the outputs'; none where none of them has one.
std::optional<double> LargestOf(std::optional<double> BlameTensorRecord::*error,
                                const BlameLayerRecord& layer) {
  std::optional<double> largest;
  for (const BlameTensorRecord& tensor : layer.outputs) {
    if (tensor.*error) largest = std::max(largest.value_or(0), *(tensor.*error));
  }
  return largest;
}

void Ease(double condition, std::optional<double>& error) {
  if (error) *error /= condition;
}

}  // namespace

std::vector<double> MadeErrors(const BlameLayerRecord& layer, bool fused) {
  std::vector<double> errors;
  for (const BlameTensorRecord& tensor : layer.outputs) {
    double made = (fused ? tensor.fused_error : tensor.own_error).value_or(0);
    if (InPlaceBelongsTo(fused, layer)) made = std::max(made, tensor.in_place_error.value_or(0));
    errors.push_back(made);
  }
  return errors;
}

void EaseMadeErrors(std::span<const double> conditions, bool fused, BlameLayerRecord& layer) {
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    BlameTensorRecord& tensor = layer.outputs[i];
    Ease(conditions[i], fused ? tensor.fused_error : tensor.own_error);
    if (InPlaceBelongsTo(fused, layer)) Ease(conditions[i], tensor.in_place_error);
    if (!fused) tensor.own_bound *= conditions[i];
    tensor.condition = std::max(tensor.condition, conditions[i]);
    layer.condition = std::max(layer.condition, tensor.condition);
  }
  layer.own_error = LargestOf(&BlameTensorRecord::own_error, layer);
  layer.fused_error = LargestOf(&BlameTensorRecord::fused_error, layer);
  layer.in_place_error = LargestOf(&BlameTensorRecord::in_place_error, layer);
}

void EaseTotals(std::span<BlameLayerRecord> layers, AmplifiedTensors& amplified) {
  for (BlameLayerRecord& layer : layers) {
    const double inherited = InheritedCondition(layer, amplified);
    double largest = 0;
    for (BlameTensorRecord& tensor : layer.outputs) {
      const bool inherits = tensor.condition == 1 && tensor.total_error > 1;
      if (inherits) tensor.condition = inherited;
      if (tensor.condition != 1) {
        tensor.total_error /= tensor.condition;
        tensor.total_bound *= tensor.condition;
        tensor.bound_why += std::string(inherits ? ", after" : ", for") +
                            " a condition number of " + FormatG(tensor.condition, 2);
      }
      layer.condition = std::max(layer.condition, tensor.condition);
      largest = std::max(largest, tensor.total_error);
    }
    layer.total_error = largest;
    NoteAmplified(layer, amplified);
  }
}

void NoteAmplified(const BlameLayerRecord& layer, AmplifiedTensors& amplified) {
  for (const BlameTensorRecord& tensor : layer.outputs) {
    if (tensor.condition == 1 || tensor.total_error * tensor.condition <= 1) continue;
    amplified[tensor.name_in_candidate()] = tensor.condition;
  }
}

}  // namespace vernier
