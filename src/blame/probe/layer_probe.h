// The tensors of a batch of layers on both sides, and the islands that they divide the graph into.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/probe/search_subject.h"
#include "blame/sides/memory_plan.h"
#include "blame/sides/probe_side.h"
#include "blame/sides/reference_probe.h"
#include "util/threads/thread_pool.h"

namespace vernier {

/// What the batches of a search have in common. All of it outlives them.
struct BatchSetup {
  const SearchSubject& subject;
  const ReferenceSource& reference;
  const MemoryPlan& memory;
  ThreadPool& threads;
};

struct LayerIslands {
  std::vector<Island> alone;       ///< one for each layer, each with an output
  std::vector<LayerIsland> fused;  ///< several nodes that the candidate computes as one
};

/// Both sides on one feed.
struct ProbedTensors {
  LayerIslands islands;
  TensorsByName reference;
  TensorsByName candidate;
  TensorMap outputs;  ///< the candidate's outputs of the model, as far as they came with probes
  std::vector<std::string> probes;  ///< the tensors that were exposed when these came
};

class LayerProbe {
 public:
  /// `targets` are nodes in order. What cannot be exposed leaves `findings.visible`, and is added
  /// to `findings.unexposed`; they outlive this.
  LayerProbe(const BatchSetup& setup, std::vector<uint32_t> targets, TensorFindings& findings);

  /// The inputs and outputs of all islands. If a tensor is not available, an island grows and may
  /// read others; one that lacks an input even after the last round cannot be run. kCancelled, and
  /// kMalformed for a damaged file of saved outputs.
  Result<ProbedTensors> Fetch(const TensorMap& feed, int64_t iteration);

  /// By what is visible and disputed now.
  LayerIslands FindIslands() const;

 private:
  std::vector<std::string_view> Wanted(const LayerIslands& islands) const;
  Status FetchCandidate(const std::vector<std::string_view>& names, const TensorMap& feed,
                        ProbedTensors& probed);

  const BatchSetup setup_;
  const std::vector<uint32_t> targets_;
  const std::vector<std::string> outputs_;  // of the model, exposed with every batch
  TensorFindings& findings_;
  ReferenceProbe reference_;
  ProbeSessions candidate_;
};

}  // namespace vernier
