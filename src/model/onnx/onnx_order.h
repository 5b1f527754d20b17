// The order in which a graph's nodes can run.
#pragma once

#include <cstdint>
#include <vector>

#include "model/onnx/onnx_model.h"

namespace vernier {

/// Indices of the main graph's nodes such that each comes after those it reads from, also from
/// within its sub-graphs; among nodes that are free to run, the file's order. A name that several
/// nodes produce belongs to the first. kMalformed, naming a node, when nodes wait for each other.
Result<std::vector<uint32_t>> TopologicalOrder(const OnnxModel& model);

/// The same of any graph of the model.
Result<std::vector<uint32_t>> TopologicalOrder(const OnnxModel& model, const OnnxGraph& graph);

/// Every value that the node reads from the graph around it, captured by its sub-graphs included;
/// without repetition, in order of first use.
std::vector<std::string_view> ValuesReadBy(const OnnxModel& model, const OnnxGraph& graph,
                                           const OnnxNode& node);

}  // namespace vernier
