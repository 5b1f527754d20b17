#include "blame/judge/verdicts.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "blame/judge/saturation.h"
#include "util/text/number_text.h"
#include "vernier/dtype.h"

namespace vernier {
namespace {

// An own error counts by itself from here on; below, the total error has to be over its bound too,
// because a bound is known to a factor only.
constexpr double kClearly = 3;
constexpr size_t kMostNamed = 8;  // nodes of a group or a region

bool IsFloat(const std::string& dtype) {
  return Kind(DTypeFromName(dtype).value_or(DType::kUndefined)) == DTypeKind::kFloat;
}

// A few steps of these are more than what a bound of long sums has room for.
bool IsShort(const std::string& dtype) {
  return IsFloat(dtype) && DTypeFromName(dtype) != DType::kFloat32 &&
         DTypeFromName(dtype) != DType::kFloat64;
}

std::string Times(double value) {
  return std::isinf(value) ? "infinitely far over the error bound"
                           : FormatG(value, 3) + " times the error bound";
}

std::string NamesOf(const std::vector<std::string>& nodes) {
  if (nodes.size() > kMostNamed) return std::to_string(nodes.size()) + " nodes";
  std::string names;
  for (const std::string& node : nodes) names += (names.empty() ? "" : " + ") + node;
  return names;
}

std::string WhyNotFinite(const NonFiniteRecord& found) {
  for (const BlameOperand& operand : found.operands) {
    if (operand.values.nan_count + operand.values.infinite_count == 0) continue;
    return "its constant '" + operand.name + "' holds values that are not finite";
  }
  return "it produces values that are not finite from finite inputs";
}

class Court {
 public:
  Court(const std::vector<std::string>& outputs, BlameRecord& record,
        const std::map<std::string, std::string>& weights)
      : outputs_(outputs.begin(), outputs.end()), record_(record), weights_(weights) {
    for (const BlameLayerRecord& layer : record.layers) {
      own_[layer.node] = layer.own_error.value_or(0);
      for (const BlameTensorRecord& tensor : layer.outputs) {
        totals_[tensor.name_in_candidate()] = tensor.total_error;
        mixed_ |= IsFloat(tensor.dtype) && IsFloat(tensor.reference_dtype);
        short_ |= IsShort(tensor.dtype) || IsShort(tensor.reference_dtype);
      }
    }
  }

  void Judge() {
    for (const BlameLayerRecord& layer : record_.layers) {
      FindOutputErrors(layer);
      if (layer.total_error > 1 && record_.first_divergence.empty()) {
        record_.first_divergence = layer.node;
      }
      std::string why = Why(layer);
      if (!why.empty() && !layer.evidence.empty()) why += "; " + layer.evidence;
      if (!why.empty()) Blame(layer, why);
    }
    std::stable_sort(ranked_.begin(), ranked_.end(),
                     [](const Ranked& a, const Ranked& b) { return a.error > b.error; });
    for (Ranked& ranked : ranked_) record_.culprits.push_back(std::move(ranked.culprit));
    BlameFusion();
    // What follows from there being no maker holds once all layers have been looked at.
    if (record_.culprits.empty() && record_.error.empty()) BlameWithoutMaker();
  }

 private:
  struct Ranked {
    BlameCulprit culprit;
    double error = 0;
  };

  double WorstInput(const BlameLayerRecord& layer) const {
    double worst = 0;
    for (const std::string& name : layer.inputs) {
      const auto found = totals_.find(name);
      if (found != totals_.end()) worst = std::max(worst, found->second);
    }
    return worst;
  }

  void FindOutputErrors(const BlameLayerRecord& layer) {
    for (const BlameTensorRecord& tensor : layer.outputs) {
      if (!outputs_.contains(tensor.name_in_candidate())) continue;
      record_.output_error = std::max(record_.output_error, tensor.total_error);
    }
  }

  // Empty: it is not to blame.
  std::string Why(const BlameLayerRecord& layer) const {
    const double own = layer.own_error.value_or(0);
    const double worst_input = WorstInput(layer);
    // Quantisers make errors everywhere: one that came with the inputs is no sign of another.
    const bool shown = layer.total_error > 1 && (!record_.quantises_alone || worst_input <= 1);
    const auto weight = weights_.find(layer.node);
    // Rounding may be over a bound that is known to a factor only; it changes no weight.
    const bool other_weight = weight != weights_.end() && !record_.quantises_alone;
    if (own > SureBound() || (own > CertainBound() && (shown || other_weight))) {
      std::string why = "its own error, from the reference's inputs, is " + Times(own);
      if (!layer.group.empty()) why += " (" + NamesOf(layer.group) + " as one)";
      return why + (other_weight ? ", and " + weight->second : "");
    }
    if (const std::string why = WhyFused(layer); !why.empty()) return why;
    const double in_place = layer.in_place_error.value_or(0);
    if (layer.total_error > CertainBound() &&
        in_place > (worst_input > 1 ? kClearly : CertainBound())) {
      return std::string(kFusedTogether) + "alone it is right (" + FormatG(own, 3) +
             "), within the model its output is " + Times(in_place) +
             " away from what it computes alone from the same inputs";
    }
    const bool fine_inputs = worst_input <= 1;
    if (layer.total_error > CertainBound() && fine_inputs && !layer.own_error) {
      return "its total error is " + Times(layer.total_error) +
             " and its inputs are fine; its own error is not known: " + layer.own_missing;
    }
    return {};
  }

  // The nodes are right one by one, and wrong as the candidate's runtime computes them together.
  std::string WhyFused(const BlameLayerRecord& layer) const {
    const double fused = layer.fused_error.value_or(0);
    const bool over = fused > SureBound() || (fused > CertainBound() && layer.total_error > 1);
    // Between float types, or with quantisers, the kernels of a group may round less than its
    // nodes.
    const bool by_one = layer.own_error.value_or(0) > 1 || OthersErr(layer);
    if (!over || by_one || mixed_ || record_.quantises_alone) return {};
    return std::string(kFusedTogether) + NamesOf(layer.fused) +
           ", which the candidate computes as one, are " + Times(fused) +
           " from the reference's inputs; each of them alone is right";
  }

  // Is another node that the candidate computes together with this one wrong by itself?
  bool OthersErr(const BlameLayerRecord& layer) const {
    return std::any_of(layer.fused.begin(), layer.fused.end(), [&](const std::string& node) {
      const auto found = own_.find(node);
      return node != layer.node && found != own_.end() && found->second > 1;
    });
  }

  void Blame(const BlameLayerRecord& layer, const std::string& why) {
    Ranked ranked;
    ranked.culprit = {layer.node, layer.op_type, {}, layer.total_error, layer.own_error, why};
    for (const BlameTensorRecord& tensor : layer.outputs) {
      ranked.culprit.outputs.push_back(tensor.name);
    }
    const double fused = OthersErr(layer) ? 0 : layer.fused_error.value_or(0);
    ranked.error = std::max({layer.own_error.value_or(0), layer.in_place_error.value_or(0), fused});
    if (!layer.own_error) ranked.error = layer.total_error;
    ranked_.push_back(std::move(ranked));
  }

  // What the search among probes found comes first: the layers were looked at with probes.
  void BlameFusion() {
    const DisturbanceRecord& found = record_.disturbance;
    if (found.region.empty()) return;
    BlameCulprit culprit;
    size_t nodes = 0;
    for (const BlameLayerRecord& layer : record_.layers) {
      const auto in = std::find(found.region.begin(), found.region.end(), layer.node);
      if (in == found.region.end() || ++nodes > kMostNamed) continue;
      culprit.op_type += (nodes == 1 ? "" : "+") + layer.op_type;
    }
    if (nodes > kMostNamed)
      culprit.op_type += " and " + std::to_string(nodes - kMostNamed) + " more";
    culprit.node = found.region.front();
    culprit.outputs = found.probes;
    culprit.total_error = std::max(found.plain_error, found.probed_error);
    culprit.why = std::string(kFusedTogether) + found.finding;
    record_.culprits.insert(record_.culprits.begin(), std::move(culprit));
  }

  // What rounding to a shorter type does on the way is known to a factor only.
  double CertainBound() const { return mixed_ || short_ ? kClearly : 1; }
  // For an error that the total error does not show.
  double SureBound() const { return kClearly * (short_ && !mixed_ ? kClearly : 1); }

  // Something is wrong at the end although no layer makes an error by itself.
  void BlameWithoutMaker() {
    if (!RepeatsItself(record_)) return BlameRandomness();
    const bool nan_at_end = std::any_of(
        record_.layers.begin(), record_.layers.end(), [&](const BlameLayerRecord& layer) {
          return std::any_of(layer.outputs.begin(), layer.outputs.end(),
                             [&](const BlameTensorRecord& tensor) {
                               return outputs_.contains(tensor.name_in_candidate()) &&
                                      tensor.candidate.nan_count > 0;
                             });
        });
    if (nan_at_end && record_.first_nonfinite) {
      AddAlone(record_.first_nonfinite->node,
               WhyNotFinite(*record_.first_nonfinite) +
                   ", on both sides, and NaN reaches the model's outputs");
    } else if (record_.output_error > CertainBound() && !ExplainedByRounding(record_)) {
      AddAlone(record_.first_divergence,
               "no single layer makes the error of the outputs (" + Times(record_.output_error) +
                   "): rounding grows on the way; here it first exceeds its error bound");
    } else if (record_.disturbance.measured && record_.disturbance.plain_error > CertainBound() &&
               !ExplainedByRounding(record_)) {
      BlameReferenceProbes();
    }
  }

  void BlameRandomness() {
    constexpr std::string_view kMoves =
        "does not produce the same outputs from the same inputs"
        " twice";
    for (const std::string& node : record_.random_nodes) {
      AddAlone(node, "it is random, and the candidate " + std::string(kMoves));
    }
    if (!record_.culprits.empty() || record_.layers.empty()) return;
    const std::string& first = record_.first_divergence;
    AddAlone(first.empty() ? record_.layers.back().node : first,
             "the candidate " + std::string(kMoves) + ", and no node of the model is random");
  }

  // With tensors exposed on both sides all is well, without it is not. Where the candidate's probes
  // are the reason, the search has said so; else the reference's are.
  void BlameReferenceProbes() {
    if (record_.layers.empty()) return;
    DisturbanceRecord& found = record_.disturbance;
    if (!found.effect.empty()) {
      AddAlone(record_.layers.back().node, found.finding);
      return;
    }
    if (found.plain_error <= kClearly) {
      AddAlone(record_.layers.back().node, "no single layer makes the error of the outputs (" +
                                               Times(found.plain_error) + " without probes)");
      return;
    }
    found.changed = true;
    found.finding = "Probing changed the reference: its outputs are " + Times(found.plain_error) +
                    " away without probes, and agree with probes.";
    AddAlone(record_.layers.back().node, found.finding);
  }

  void AddAlone(const std::string& node, const std::string& why) {
    for (const BlameLayerRecord& layer : record_.layers) {
      if (layer.node != node) continue;
      Blame(layer, why);
      record_.culprits.push_back(std::move(ranked_.back().culprit));
      return;
    }
  }

  std::unordered_set<std::string> outputs_;
  BlameRecord& record_;
  const std::map<std::string, std::string>& weights_;
  std::unordered_map<std::string, double> totals_, own_;
  std::vector<Ranked> ranked_;
  bool mixed_ = false;  // the sides have tensors of different float types
  bool short_ = false;  // there are tensors of a float type shorter than float32
};

bool ReadsOnly(const BlameLayerRecord& layer, const InputTest& is_input) {
  return !layer.inputs.empty() && std::all_of(layer.inputs.begin(), layer.inputs.end(), is_input);
}

}  // namespace

void DoubtInputs(const InputTest& is_input, BlameRecord& record) {
  for (BlameCulprit& culprit : record.culprits) {
    for (const BlameLayerRecord& layer : record.layers) {
      if (layer.node != culprit.node || !ReadsOnly(layer, is_input)) continue;
      culprit.why += "; or these are not the inputs that the saved outputs were made from";
      break;
    }
  }
}

bool ExplainedByRounding(const BlameRecord& record) {
  const auto& outputs = record.output_conditions;
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [](const auto& output) {
    return output.error <= output.condition;
  });
}

bool RepeatsItself(const BlameRecord& record) {
  const auto& outputs = record.output_conditions;
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const auto& output) { return output.repeats; });
}

void MarkCulprits(const std::vector<std::string>& outputs, BlameRecord& record,
                  const std::map<std::string, std::string>& weights) {
  record.culprits.clear();
  record.first_divergence.clear();
  record.output_error = 0;
  std::string saturation = DescribeSaturation(ExcuseSaturation(outputs, record.layers));
  if (!saturation.empty()) record.notes.push_back(std::move(saturation));
  Court(outputs, record, weights).Judge();
}

std::string DescribeDoubt(const BlameRecord& record,
                          const std::map<std::string, std::string>& weights) {
  if (!record.culprits.empty() || record.quantises_alone || record.layers.empty()) return "";
  const auto own = [](const BlameLayerRecord& layer) { return layer.own_error.value_or(0); };
  const auto rank = [&](const BlameLayerRecord& layer) {
    return std::pair(weights.contains(layer.node), own(layer));
  };
  const auto worst = std::ranges::max_element(record.layers, {}, rank);
  const auto weight = weights.find(worst->node);
  const bool is_short = std::ranges::any_of(worst->outputs, [](const BlameTensorRecord& tensor) {
    return IsShort(tensor.dtype) || IsShort(tensor.reference_dtype);
  });
  const std::string layer = "'" + worst->node + "' (" + worst->op_type + ")";
  if (weight != weights.end()) {
    return "layer " + layer + " is within its error bound (" + FormatG(own(*worst), 3) + "), but " +
           weight->second;
  }
  if (own(*worst) <= 1 || worst->total_error > 1 || is_short) return "";
  return "the own error of layer " + layer + " is " + Times(own(*worst)) +
         ", and its total error is within its bound (" + FormatG(worst->total_error, 3) +
         "): up to " + FormatG(kClearly, 1) + " times, this alone does not blame a layer";
}

}  // namespace vernier
