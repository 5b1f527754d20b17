// Which tensors of a graph the candidate's runtime has fused away, if it reports that.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/wire/messages.h"
#include "blame/graph/blame_graph.h"
#include "run/profile/layer_times.h"
#include "util/files/scratch_folder.h"

namespace vernier {

/// From the graph that a runtime made of this one: tensors that no node of it makes. Names of nodes
/// count where a layout of the runtime's own has taken the place of tensors. The result are views
/// into `graph`.
NameSet FusedAwayIn(const OnnxModel& optimised, const BlameGraph& graph);

/// From the names of a runtime's kernels, which list the nodes that they are made of, or only the
/// first or the last of these: "add1 + relu1" for a MatMul and both. What no list has is taken for
/// fused where operators leave no doubt.
NameSet FusedAwayByKernels(std::span<const LayerTime> kernels, const BlameGraph& graph);

/// From names that list the nodes that they are made of: "conv1 + relu1", "PWN(add2, relu2)".
/// What a region "{ForeignNode[a...b]}" is made of is unknown.
NameSet FusedAwayByLists(std::span<const LayerTime> kernels, const BlameGraph& graph);

/// Several nodes that are computed as one, with the place in `islands` of the one that they end
/// with. `islands` are those of `visible` and `disputed`. What reaches into a kernel from elsewhere
/// belongs to it: tensors of `fused_away` are not seen.
std::vector<LayerIsland> FindFusedIslands(const BlameGraph& graph, std::span<const Island> islands,
                                          const NameSet& visible, const NameSet& disputed,
                                          const NameSet& fused_away);

/// A session that reports, while it is opened, how it fuses the graph.
class FusionQuestion {
 public:
  /// nullopt: the backend has no option that answers it (VN_ROLE_LAYER_NAMES and the two below it
  /// in backend_abi.h), or the model is too large for that. kIo: there is no folder for the answer.
  static Result<std::optional<FusionQuestion>> Make(const BackendInfo& backend,
                                                    const OnnxModel& model);

  /// For the session.
  OptionList options() const;

  /// Once the session is closed. Empty: nothing is fused, or the runtime does not report it. kIo
  /// where there is no answer because there is no room for it.
  Result<NameSet> FusedAway(const BlameGraph& graph) const;

 private:
  struct Way;
  FusionQuestion(const Way& way, std::string option, ScratchFolder folder)
      : way_(&way), option_(std::move(option)), folder_(std::move(folder)) {}
  std::string path() const;

  const Way* way_;
  std::string option_;  // of the session; its value is a path
  ScratchFolder folder_;
};

}  // namespace vernier
