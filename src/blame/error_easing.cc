#include "blame/error_easing.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "util/number_text.h"

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

}  // namespace

double MadeError(const BlameLayerRecord& layer, bool fused) {
  const double made = (fused ? layer.fused_error : layer.own_error).value_or(0);
  return InPlaceBelongsTo(fused, layer) ? std::max(made, layer.in_place_error.value_or(0)) : made;
}

void EaseMadeError(double condition, bool fused, BlameLayerRecord& layer) {
  const auto ease = [condition](std::optional<double>& error) {
    if (error) *error /= condition;
  };
  ease(fused ? layer.fused_error : layer.own_error);
  if (InPlaceBelongsTo(fused, layer)) ease(layer.in_place_error);
  layer.condition = std::max(layer.condition, condition);
  if (fused) return;
  for (BlameTensorRecord& tensor : layer.outputs) {
    ease(tensor.own_error);
    tensor.own_bar *= condition;
  }
}

void EaseTotals(std::span<BlameLayerRecord> layers, AmplifiedTensors& amplified) {
  for (BlameLayerRecord& layer : layers) {
    const bool inherits = layer.condition == 1 && layer.total_error > 1;
    if (inherits) layer.condition = InheritedCondition(layer, amplified);
    if (layer.condition == 1) continue;
    const std::string why = std::string(inherits ? ", after" : ", for") +
                            " a condition number of " + FormatG(layer.condition, 2);
    layer.total_error /= layer.condition;
    for (BlameTensorRecord& tensor : layer.outputs) {
      tensor.total_error /= layer.condition;
      tensor.total_bar *= layer.condition;
      tensor.bar_why += why;
    }
    NoteAmplified(layer, amplified);
  }
}

void NoteAmplified(const BlameLayerRecord& layer, AmplifiedTensors& amplified) {
  if (layer.condition == 1 || layer.total_error * layer.condition <= 1) return;
  for (const BlameTensorRecord& tensor : layer.outputs) {
    amplified[tensor.name_in_candidate()] = layer.condition;
  }
}

}  // namespace vernier
