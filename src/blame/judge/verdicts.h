// From the errors of all layers to who is blamed, and for what.
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

/// A sentence on a layer that is not blamed, and why it may be wrong all the same: a weight of it
/// is not the reference's, or its own error is over its bound, which its total error does not show.
/// Empty: there is none, or there are culprits.
std::string DescribeDoubt(const BlameRecord& record,
                          const std::map<std::string, std::string>& weights = {});

/// Whether a tensor is an input of the model.
using InputTest = std::function<bool(std::string_view)>;

/// For saved references: a culprit that reads only the model's inputs is marked as doubtful, since
/// the saved outputs may come from other inputs.
void DoubtInputs(const InputTest& is_input, BlameRecord& record);

/// Is the error of each output one that rounding of the inputs makes as well? Then they say nothing
/// of the runtimes. An output that amplifies rounding excuses no other. Never where
/// `record.output_conditions` were not measured.
bool ExplainedByRounding(const BlameRecord& record);

/// Does the candidate make the same of the same inputs, as far as that was looked at?
bool RepeatsItself(const BlameRecord& record);

}  // namespace vernier
