// What is known about the model's own outputs apart from the layers that make them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/probe/unprobed_outputs.h"
#include "blame/probe/unprobed_run.h"
#include "blame/sides/search_sides.h"
#include "vernier/blame_record.h"
#include "vernier/run_plan.h"

namespace vernier {

/// Is the tensor an initializer that nothing feeds, or does a Constant node hold it? No layer makes
/// such an output.
bool IsStored(const OnnxGraph& graph, std::string_view name);

/// The constants that the candidate returns as outputs and that differ from the reference's by more
/// than their error bound: they are to blame themselves.
std::vector<BlameCulprit> DifferingConstants(const SearchModels& models, UnprobedOutputs& outputs);

/// Adds a note for each output whose type differs between the sides and that no layer was looked at
/// for: a constant, say.
void NoteRetypedOutputs(const UnprobedOutputs& outputs, BlameRecord& record);

/// Why the report must not say that nothing is to blame: an output that differs, or that only one
/// side has, and for which no layer was examined. Empty: there is none. Outputs that have no
/// partner do not count where the reference is saved, nor where the run is lenient: then not `all`.
std::string WhyNotAllOutputs(UnprobedOutputs& outputs, bool all, const BlameRecord& record);

/// Is an output over its error bound, and rounding does not explain it? --tolerance auto would not
/// accept it then.
bool OutputsExceedBounds(UnprobedOutputs& outputs, const BlameRecord& record);

/// One sentence if an output of either side is not a tensor, and was not examined; empty: there is
/// none, or tensors were marked as outputs, or the run is lenient.
std::string WhyNotOnlyTensors(const RunPlan& plan, const UnprobedRun& unprobed);

/// Why there is nothing to say at all; of a record without compared elements.
std::string WhyNoVerdict(const BlameRecord& record);

}  // namespace vernier
