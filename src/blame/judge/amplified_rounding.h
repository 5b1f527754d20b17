// Wider bounds where rounding is amplified: for nodes whose inputs cancel, and for what is read of
// them further on.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "vernier/blame_record.h"

namespace vernier {

/// Tensors of the candidate that differ by more than their bounds because rounding was amplified,
/// and by how much these are wider.
using AmplifiedTensors = std::unordered_map<std::string, double>;

/// The errors that the outputs of a layer make when it runs by itself, or `fused` with others, and
/// within the model where that was measured for the same nodes. In the outputs' order; 0 where none
/// is known.
std::vector<double> MadeErrors(const BlameLayerRecord& layer, bool fused);

/// Divides each of these errors by the condition number of its output, and takes the layer's from
/// what is left. `conditions`: one for each output, from 1.
void EaseMadeErrors(std::span<const double> conditions, bool fused, BlameLayerRecord& layer);

/// Once these are eased: the total errors of layers in topological order, each output's by its own
/// condition number, or where it has none and the layer makes no error by the largest of
/// `amplified` that the layer reads. Adds their own outputs.
void EaseTotals(std::span<BlameLayerRecord> layers, AmplifiedTensors& amplified);

/// The outputs of a layer whose total errors were eased, in this search or the one that it goes on
/// with.
void NoteAmplified(const BlameLayerRecord& layer, AmplifiedTensors& amplified);

}  // namespace vernier
