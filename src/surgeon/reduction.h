// The fewest nodes of a model that still show a fault, by delta debugging.
#pragma once

#include <cstddef>
#include <span>

#include "model/onnx/onnx_model.h"
#include "surgeon/asked_sets.h"
#include "vernier/status.h"

namespace vernier {

struct ReductionOptions {
  bool reduce_inputs = true;   ///< false: what a node needs stays with it
  bool reduce_outputs = true;  ///< false: what needs a node stays with it
  bool bisect = true;          ///< first look for the part of the graph that is needed
  size_t width = 1;            ///< so many parts are worth asking about at once
};

struct Reduction {
  NodeSet bad;  ///< fails; without any one of its nodes it does not, as far as options allow
  NodeSet
      good;  ///< of those that passed the largest one below `bad`, else the smallest; may be empty
  size_t checks = 0;
};

/// `model` fails as a whole. Nodes are indices in its main graph; of models made of such sets,
/// `first` returns the first that fails, and gets none twice. Needs about
/// log(n) checks, to the base of width + 1, to find a place that fails by itself, 2 log(n) more
/// where what is needed lies apart and, with m nodes left, up to m^2 for them. Errors of `first`,
/// and kMalformed for nodes that wait for each other.
Result<Reduction> ReduceNodes(const OnnxModel& model, const ReductionOptions& options,
                              const FirstOfSets& first);

/// The model made of these nodes: what they read from others are inputs, and what others, or
/// no node, reads of theirs are outputs. kUnimplemented as ModelComposer::Finish.
Result<OnnxModel> PartOfNodes(const OnnxModel& model, std::span<const uint32_t> nodes);

}  // namespace vernier
