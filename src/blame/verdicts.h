// From the errors of all layers to who is blamed, and for what.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/blame_record.h"

namespace vernier {

/// Fills culprits, first_divergence and output_error from `record.layers`, which are in topological
/// order, from first_nonfinite and from `outputs`, the names of the model's own outputs. The rules
/// are the table in docs/blame.md.
void Accuse(const std::vector<std::string>& outputs, BlameRecord& record);

/// Whether a tensor is an input of the model.
using InputTest = std::function<bool(std::string_view)>;

/// For saved references: what reads only the model's inputs is accused with the reservation that
/// the inputs may be others than those that the saved outputs were made from.
void DoubtInputs(const InputTest& is_input, BlameRecord& record);

/// Is an error of the outputs one that rounding of the inputs makes as well? Then it says nothing
/// of the runtimes. Never where `record.condition` was not measured.
bool ExplainedByRounding(double error, const BlameRecord& record);

}  // namespace vernier
