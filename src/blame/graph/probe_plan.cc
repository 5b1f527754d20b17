#include "blame/graph/probe_plan.h"

#include <algorithm>

#include "blame/graph/fused_tensors.h"
#include "blame/graph/tensor_sizes.h"

namespace vernier {
namespace {

// Copies of a tensor at the worst moment: the framework's own and the one on its way, on both
// sides; what islands are fed; and what they hand out, once more in both forms.
constexpr uint64_t kHostCopies = 7;
constexpr uint64_t kDeviceCopies = 2;
// The candidate's, in its own memory and in ours.
constexpr uint64_t kOutputCopies = 2;

// For each target the tensors that it is looked at with: what it reads and makes.
std::vector<std::vector<std::string_view>> TensorsAround(const BlameGraph& graph,
                                                         std::span<const uint32_t> targets,
                                                         const NameSet& visible,
                                                         const NameSet& fused_away) {
  const std::vector<Island> islands = graph.Islands(targets, visible, {});
  const std::vector<LayerIsland> fused = FindFusedIslands(graph, islands, visible, {}, fused_away);
  std::vector<std::vector<std::string_view>> all;
  size_t next_fused = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    std::vector<std::string_view> names = graph.InputsOf(islands[i]);
    names.insert(names.end(), islands[i].outputs.begin(), islands[i].outputs.end());
    if (next_fused < fused.size() && fused[next_fused].layer == i) {
      for (const std::string_view name : graph.InputsOf(fused[next_fused++].island)) {
        const bool there = std::find(names.begin(), names.end(), name) != names.end();
        if (!there) names.push_back(name);
      }
    }
    all.push_back(std::move(names));
  }
  return all;
}

// Bytes of tensors, each counted once.
uint64_t MostOfOneBatch(const ProbeLimits& limits) {
  const uint64_t held = std::min(limits.host_bytes, limits.held_bytes);
  const uint64_t most = (limits.host_bytes - held) / kHostCopies;
  return limits.gpu_bytes > 0 ? std::min(most, limits.gpu_bytes / kDeviceCopies) : most;
}

}  // namespace

std::vector<ProbeBatch> PlanBatches(const BlameGraph& graph, const NameSet& visible,
                                    std::span<const InputDims> feed, ProbeLimits limits,
                                    const NameSet& fused_away) {
  const TensorSizes sizes(graph, feed);
  const std::vector<uint32_t> targets = graph.Targets(visible);
  const auto tensors = TensorsAround(graph, targets, visible, fused_away);
  NameSet held;
  const auto added = [&](const std::vector<std::string_view>& names) {
    uint64_t sum = 0;
    for (const std::string_view name : names) sum += held.contains(name) ? 0 : sizes.Of(name);
    return sum;
  };
  // They come with every batch.
  for (const std::string& name : graph.OutputNames()) {
    limits.held_bytes += sizes.Of(name) * kOutputCopies;
  }
  uint64_t most = MostOfOneBatch(limits);
  for (const auto& names : tensors) most = std::max(most, added(names));
  std::vector<ProbeBatch> batches;
  uint64_t bytes = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (batches.empty() || bytes + added(tensors[i]) > most) {
      batches.emplace_back();
      held.clear();
      bytes = 0;
    }
    bytes += added(tensors[i]);
    held.insert(tensors[i].begin(), tensors[i].end());
    batches.back().targets.push_back(targets[i]);
    batches.back().host_bytes = limits.held_bytes + bytes * kHostCopies;
  }
  return batches;
}

}  // namespace vernier
