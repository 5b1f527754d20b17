// From the errors of all layers to the layers that are blamed, and the reasons.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/blame_record.h"

namespace vernier {

/// Of nodes that are right one by one: how BlameCulprit::why begins.
inline constexpr std::string_view kFusedTogether = "fusion or interaction: ";

/// Fills culprits, first_divergence and output_error from `record.layers`, which are in topological
/// order, from first_nonfinite and from `outputs`, the names of the model's own outputs. The rules
/// are the table in docs/blame.md.
/// `weights`: by layer, which of its weights is not the reference's.
void MarkCulprits(const std::vector<std::string>& outputs, BlameRecord& record,
                  const std::map<std::string, std::string>& weights = {});

/// A sentence on a layer that is not blamed, and why it may be wrong nevertheless: a weight of it
/// is not the reference's, or its own error exceeds its bound, which its total error does not show.
/// Empty: there is none, or there are culprits.
std::string DescribeDoubt(const BlameRecord& record,
                          const std::map<std::string, std::string>& weights = {});

/// Whether a tensor is an input of the model.
using InputTest = std::function<bool(std::string_view)>;

/// For saved references: a culprit that reads only the model's inputs is marked as doubtful, since
/// the saved outputs may come from other inputs.
void DoubtInputs(const InputTest& is_input, BlameRecord& record);

/// Can rounding of the inputs explain the error of each output? Then the errors show nothing about
/// the runtimes. An output that amplifies rounding excuses no other. Never where
/// `record.output_conditions` were not measured.
bool ExplainedByRounding(const BlameRecord& record);

/// Does the candidate give the same from the same inputs, as far as that was checked?
bool RepeatsItself(const BlameRecord& record);

}  // namespace vernier
