#include "blame/probe/layer_probe.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "blame/graph/fused_tensors.h"

namespace vernier {
namespace {

constexpr int kMostProbeRounds = 8;

}  // namespace

LayerProbe::LayerProbe(const BatchSetup& setup, std::vector<uint32_t> targets,
                       TensorFindings& findings)
    : setup_(setup),
      targets_(std::move(targets)),
      outputs_(setup.subject.graph().OutputNames()),
      findings_(findings),
      reference_(setup.reference, findings.unexposed, setup.memory.after_use),
      candidate_(setup.subject.sides.candidate, findings.unexposed, setup.memory.after_use) {}

LayerIslands LayerProbe::FindIslands() const {
  const BlameGraph& graph = setup_.subject.graph();
  LayerIslands islands;
  islands.alone = graph.Islands(targets_, findings_.visible, findings_.disputed);
  std::erase_if(islands.alone, [](const Island& island) { return island.outputs.empty(); });
  islands.fused = FindFusedIslands(graph, islands.alone, findings_.visible, findings_.disputed,
                                   setup_.subject.unprobed.fused_away);
  return islands;
}

// Outputs of the islands, and what they are fed with.
std::vector<std::string_view> LayerProbe::Wanted(const LayerIslands& islands) const {
  std::vector<std::string_view> names;
  NameSet seen;
  const auto add = [&](std::string_view name) {
    if (findings_.visible.contains(name) && seen.insert(name).second) names.push_back(name);
  };
  const auto add_of = [&](const Island& island) {
    for (const std::string_view name : setup_.subject.graph().InputsOf(island)) add(name);
    for (const std::string_view name : island.outputs) add(name);
  };
  for (const Island& island : islands.alone) add_of(island);
  for (const LayerIsland& fused : islands.fused) add_of(fused.island);
  return names;
}

Status LayerProbe::FetchCandidate(const std::vector<std::string_view>& names, const TensorMap& feed,
                                  ProbedTensors& probed) {
  // What a fusion has swallowed is asked for in a session of its own, so that the others are as
  // they are without probes.
  const NameSet& swallowed = setup_.subject.unprobed.fused_away;
  std::vector<std::string> wanted, fused_away;
  for (const std::string_view name : names) {
    (swallowed.contains(name) ? fused_away : wanted).emplace_back(name);
  }
  if (probed.outputs.empty()) probed.probes = wanted;
  for (const std::string& output : outputs_) {
    const bool known = std::find(names.begin(), names.end(), output) != names.end() ||
                       Find(probed.outputs, output) != nullptr;
    if (!known) wanted.push_back(output);
  }
  candidate_.Want(wanted);
  candidate_.Want(fused_away);
  wanted.insert(wanted.end(), fused_away.begin(), fused_away.end());
  VERNIER_ASSIGN_OR_RETURN(const TensorMap tensors, candidate_.Run(feed, wanted));
  for (const std::string& output : outputs_) {
    const Tensor* tensor = Find(tensors, output);
    if (tensor == nullptr || Find(probed.outputs, output) != nullptr) continue;
    probed.outputs.push_back({output, *tensor});
  }
  std::unordered_map<std::string_view, const Tensor*> by_name;
  for (const NamedTensor& tensor : tensors) by_name[tensor.name] = &tensor.tensor;
  for (const std::string_view name : names) {
    const auto found = by_name.find(name);
    if (found != by_name.end()) probed.candidate[name] = *found->second;
  }
  return {};
}

Result<ProbedTensors> LayerProbe::Fetch(const TensorMap& feed, int64_t iteration) {
  ProbedTensors probed;
  for (int round = 0; round < kMostProbeRounds; ++round) {
    probed.islands = FindIslands();
    std::vector<std::string_view> missing = Wanted(probed.islands);
    std::erase_if(missing, [&](std::string_view name) { return probed.candidate.contains(name); });
    if (missing.empty()) return probed;
    if (setup_.memory.side_by_side) reference_.Begin(missing, feed);
    VERNIER_TRY(FetchCandidate(missing, feed, probed));
    VERNIER_TRY(reference_.Fetch(missing, feed, iteration, probed.reference));
    for (const std::string_view name : missing) {
      const bool both = probed.reference.contains(name) && probed.candidate.contains(name);
      if (!both) findings_.visible.erase(name);
    }
  }
  probed.islands = FindIslands();
  return probed;
}

}  // namespace vernier
