// Wider bars where rounding is amplified: for nodes whose inputs cancel, and for what is read of
// them further on.
#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "vernier/blame_record.h"

namespace vernier {

/// Tensors of the candidate that differ by more than their bars because rounding was amplified, and
/// by how much these are wider.
using AmplifiedTensors = std::unordered_map<std::string, double>;

/// The error that a layer makes by itself, or `fused` with others, and within the model where that
/// was measured for the same nodes.
double MadeError(const BlameLayerRecord& layer, bool fused);

/// Divides that error by a condition number.
void EaseMadeError(double condition, bool fused, BlameLayerRecord& layer);

/// Once these are eased: the total errors of layers in topological order, by the condition numbers
/// of the layers themselves, or by those of `amplified` that they read where they make no error.
/// Adds their own outputs.
void EaseTotals(std::span<BlameLayerRecord> layers, AmplifiedTensors& amplified);

/// Of a layer whose total error was eased, in this search or the one that it goes on with.
void NoteAmplified(const BlameLayerRecord& layer, AmplifiedTensors& amplified);

}  // namespace vernier
