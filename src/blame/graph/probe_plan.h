// How many tensors are marked at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "model/shapes/onnx_shapes.h"

namespace vernier {

struct ProbeLimits {
  uint64_t host_bytes = 0;  ///< of all processes
  uint64_t gpu_bytes = 0;   ///< 0: no limit
  /// Of `host_bytes`, what all processes hold whatever the batch: frameworks, the weights of the
  /// sessions that are open at a time, feeds.
  uint64_t held_bytes = 0;
};

struct ProbeBatch {
  std::vector<uint32_t> targets;  ///< nodes, in order
  uint64_t host_bytes = 0;        ///< the most that all processes are expected to hold
};

/// Neighbouring nodes share a batch as long as their tensors, inputs included, stay within the
/// limits on all sides: as a framework's own, on their way to us, and as what islands are fed. What
/// the node with the largest tensors needs, batches may always take. Tensors of unknown size count
/// as TensorSizes says. What nodes that are computed as one read counts too: `fused_away` are the
/// tensors between them.
std::vector<ProbeBatch> PlanBatches(const BlameGraph& graph, const NameSet& visible,
                                    std::span<const InputDims> feed, ProbeLimits limits,
                                    const NameSet& fused_away = {});

}  // namespace vernier
