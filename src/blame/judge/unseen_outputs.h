// What is known of the model's own outputs beyond the layers that make them.
#pragma once

#include <string>
#include <string_view>

#include "blame/graph/blame_graph.h"
#include "blame/probe/search_sides.h"
#include "blame/probe/unprobed_outputs.h"
#include "vernier/blame_record.h"

namespace vernier {

/// Is the tensor an initializer that nothing feeds, or does a Constant node hold it? No layer makes
/// such an output.
bool IsStored(const OnnxGraph& graph, std::string_view name);

/// Accuses the constants that the candidate hands out as outputs and that differ from the
/// reference's by more than their error bound.
void BlameConstants(const SearchModels& models, UnprobedOutputs& outputs, BlameRecord& record);

/// Adds a note for each output whose type differs between the sides and that no layer was looked at
/// for: a constant, say.
void NoteRetypedOutputs(const UnprobedOutputs& outputs, BlameRecord& record);

/// Why it must not be said that nothing is to blame: an output that differs, or that only one side
/// has, and that no layer was looked at for. Empty: there is none. Outputs that have no partner do
/// not count where the reference is saved, nor where the run is `lenient`.
std::string WhyNotAllOutputs(const SearchModels& models, UnprobedOutputs& outputs, bool lenient,
                             const BlameRecord& record);

/// Is an output over its error bound, and rounding does not explain it? --tolerance auto would not
/// accept it then.
bool OutputsExceedBounds(UnprobedOutputs& outputs, const BlameRecord& record);

/// Why there is nothing to say at all; of a record without compared elements.
std::string WhyNoVerdict(const BlameRecord& record);

}  // namespace vernier
