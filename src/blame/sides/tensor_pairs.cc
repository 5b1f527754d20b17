#include "blame/sides/tensor_pairs.h"

#include <algorithm>

#include "model/edit/onnx_outputs.h"
#include "model/onnx/onnx_order.h"
#include "model/pairs/structural_pairs.h"
#include "model/rounding/error_model.h"

namespace vernier {
namespace {

// Operators that hand on the values of their first input, rounded at most.
constexpr std::string_view kHandOn[] = {"Identity", "Cast", "Dropout", "QuantizeLinear",
                                        "DequantizeLinear"};

bool HandsOn(const OnnxNode& node) {
  return std::find(std::begin(kHandOn), std::end(kHandOn), node.op_type) != std::end(kHandOn);
}

// Further outputs of nodes that nothing reads, such as the mask of Dropout. What they hold is often
// left open, and nothing depends on it.
NameSet UnreadOutputs(const OnnxModel& model) {
  const OnnxGraph& graph = model.graph();
  NameSet unread;
  for (const OnnxNode& node : graph.nodes) {
    const auto outputs = graph.Outputs(node);
    for (size_t i = 1; i < outputs.size(); ++i) unread.insert(outputs[i]);
  }
  if (unread.empty()) return unread;
  for (const OnnxNode& node : graph.nodes) {
    for (const std::string_view name : ValuesReadBy(model, graph, node)) unread.erase(name);
  }
  for (const OnnxValue& output : graph.outputs) unread.erase(output.name);
  return unread;
}

// The tensors of one graph that hold the same values, as sets.
class Aliases {
 public:
  explicit Aliases(const OnnxGraph& graph) {
    for (const OnnxNode& node : graph.nodes) {
      const auto inputs = graph.Inputs(node);
      const auto outputs = graph.Outputs(node);
      const bool quantises = node.op_type == "QuantizeLinear";
      for (const std::string_view name : inputs) {
        const auto [reader, first] = quantised_only_.emplace(name, quantises);
        if (!first) reader->second &= quantises;
      }
      if (node.op_type == "DequantizeLinear" && !outputs.empty()) dequantised_.insert(outputs[0]);
      if (!HandsOn(node) || inputs.empty() || outputs.empty()) continue;
      // An integer that a quantiser made is a stand-in for the float before it, not for itself.
      integers_[outputs[0]] = quantises;
      Join(inputs[0], outputs[0]);
    }
    // In the graph's order: who meets whom must not depend on a hash.
    for (const std::string_view name : names_) members_[Root(name)].push_back(name);
  }

  std::vector<std::string_view> Of(std::string_view name) {
    const auto found = members_.find(Root(name));
    return found == members_.end() ? std::vector<std::string_view>() : found->second;
  }

  bool IsQuantised(std::string_view name) const {
    const auto found = integers_.find(name);
    return found != integers_.end() && found->second;
  }

  // What the graph reads instead of a float: where only a quantiser reads that, its dequantised
  // twin, if there is but one.
  std::optional<std::string_view> DequantisedTwin(std::string_view name) {
    const auto reader = quantised_only_.find(name);
    if (reader == quantised_only_.end() || !reader->second) return {};
    std::optional<std::string_view> twin;
    for (const std::string_view other : Of(name)) {
      if (other == name || !dequantised_.contains(other)) continue;
      if (twin) return {};
      twin = other;
    }
    return twin;
  }

 private:
  std::string_view Root(std::string_view name) {
    const auto found = parents_.find(name);
    if (found == parents_.end() || found->second == name) return name;
    const std::string_view root = Root(found->second);
    parents_[name] = root;
    return root;
  }

  void Join(std::string_view a, std::string_view b) {
    for (const std::string_view name : {a, b}) {
      if (parents_.emplace(name, name).second) names_.push_back(name);
    }
    parents_[Root(b)] = Root(a);
  }

  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::string_view> parents_;
  std::unordered_map<std::string_view, std::vector<std::string_view>> members_;
  std::unordered_map<std::string_view, bool> integers_;
  std::unordered_map<std::string_view, bool> quantised_only_;  // of tensors that are read
  NameSet dequantised_;
};

class TensorPairing {
 public:
  TensorPairing(const OnnxModel* reference, std::span<const std::string> saved,
                const BlameGraph& candidate)
      : theirs_(MarkableTensors(candidate.model())),
        unread_(UnreadOutputs(candidate.model())),
        markable_(WithoutUnread()),
        aliases_(candidate.graph()),
        quantises_alone_(QuantisesAlone(reference, saved, candidate)) {
    if (reference != nullptr) {
      ours_ = MarkableTensors(*reference);
      reference_aliases_.emplace(reference->graph());
      structure_ = PairByStructure(*reference, candidate.model());
    } else {
      ours_.assign(saved.begin(), saved.end());
    }
  }

  TensorPairs Make(const std::map<std::string, std::string>& outputs) {
    if (structure_.empty()) {
      PairNames();
    } else {
      PairStructure();
    }
    const NameSet all_ours(ours_.begin(), ours_.end());
    for (const auto& [theirs, ours] : outputs) {
      const auto output = markable_.find(theirs);
      const bool free = output != markable_.end() && all_ours.contains(ours) &&
                        !pairs_.reference.contains(theirs) && !paired_ours_.contains(ours);
      if (free && IsOfOneKind(ours, theirs)) Pair(ours, *output);
    }
    for (const std::string_view name : ours_) {
      if (structure_.empty() && !paired_ours_.contains(name)) PairThroughAliases(name);
    }
    for (const std::string_view name : ours_) {
      if (!paired_ours_.contains(name) && !unread_.contains(name)) {
        pairs_.one_sided.push_back({std::string(name), "only the reference has it"});
      }
    }
    for (const std::string_view name : theirs_) {
      if (pairs_.reference.contains(name)) continue;
      pairs_.one_sided.push_back({std::string(name), unread_.contains(name)
                                                         ? "nothing reads it"
                                                         : "only the candidate has it"});
    }
    return std::move(pairs_);
  }

 private:
  void PairNames() {
    for (const std::string_view name : ours_) {
      const auto same = markable_.find(name);
      if (same != markable_.end() && IsOfOneKind(name, *same)) Pair(name, StandIn(*same));
    }
  }

  void PairStructure() {
    pairs_.by_structure = true;
    const NameSet all_ours(ours_.begin(), ours_.end());
    for (const auto& [theirs, ours] : structure_) {
      const bool usable = markable_.contains(theirs) && all_ours.contains(ours);
      if (usable && IsOfOneKind(ours, theirs)) Pair(ours, theirs);
    }
  }

  // A quantiser may have taken over the name of the float before it. Of saved tensors nothing is
  // known but their names.
  bool IsOfOneKind(std::string_view ours, std::string_view theirs) const {
    return !reference_aliases_ ||
           reference_aliases_->IsQuantised(ours) == aliases_.IsQuantised(theirs);
  }

  // What meets the reference's tensor of this name: quantisers may have taken in the rectifier
  // before them, so of a candidate that quantises alone what is read on.
  std::string_view StandIn(std::string_view theirs) {
    if (!quantises_alone_) return theirs;
    const std::optional<std::string_view> twin = aliases_.DequantisedTwin(theirs);
    const bool usable = twin && markable_.contains(*twin) && !pairs_.reference.contains(*twin);
    return usable ? *twin : theirs;
  }

  void Pair(std::string_view ours, std::string_view theirs) {
    paired_ours_.insert(ours);
    pairs_.reference.emplace(theirs, std::string(ours));
  }

  // A tensor of the candidate that is not paired yet and that holds what `name` holds: one of the
  // same name has to be near on either side.
  void PairThroughAliases(std::string_view name) {
    std::vector<std::string_view> near = {name};
    if (reference_aliases_) {
      const auto more = reference_aliases_->Of(name);
      near.insert(near.end(), more.begin(), more.end());
    }
    const bool quantised = reference_aliases_ && reference_aliases_->IsQuantised(name);
    for (const std::string_view known : near) {
      for (const std::string_view twin : aliases_.Of(known)) {
        const bool usable = markable_.contains(twin) && !pairs_.reference.contains(twin) &&
                            aliases_.IsQuantised(twin) == quantised;
        if (usable) return Pair(name, twin);
      }
    }
  }

  NameSet WithoutUnread() const {
    NameSet names(theirs_.begin(), theirs_.end());
    for (const std::string_view name : unread_) names.erase(name);
    return names;
  }

  std::vector<std::string_view> ours_, theirs_;
  const NameSet unread_;    // by anything of the candidate
  const NameSet markable_;  // by the candidate, and read
  Aliases aliases_;
  const bool quantises_alone_;
  std::optional<Aliases> reference_aliases_;
  StructuralPairs structure_;  // empty: names are right
  NameSet paired_ours_;
  TensorPairs pairs_;
};

}  // namespace

bool QuantisesAlone(const OnnxModel* reference, std::span<const std::string> saved,
                    const BlameGraph& candidate) {
  if (!HasQuantisers(candidate.model())) return false;
  if (reference != nullptr) return !HasQuantisers(*reference);
  const Aliases aliases(candidate.graph());
  return std::none_of(saved.begin(), saved.end(),
                      [&](const std::string& name) { return aliases.IsQuantised(name); });
}

TensorPairs PairTensors(const OnnxModel* reference, std::span<const std::string> saved,
                        const BlameGraph& candidate,
                        const std::map<std::string, std::string>& outputs) {
  return TensorPairing(reference, saved, candidate).Make(outputs);
}

std::string WhyNothingPairs(const OnnxModel* reference, std::span<const std::string> saved,
                            const BlameGraph& candidate) {
  const auto is_shared = [&](std::string_view name) {
    if (reference == nullptr) return std::find(saved.begin(), saved.end(), name) != saved.end();
    const std::vector<OnnxValue>& outputs = reference->graph().outputs;
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const OnnxValue& output) { return output.name == name; });
  };
  std::string handed_on;
  for (const OnnxValue& output : candidate.graph().outputs) {
    const bool made = candidate.IsMade(output.name) && !candidate.IsConstant(output.name);
    if (made || !is_shared(output.name)) continue;
    handed_on += (handed_on.empty() ? "'" : ", '") + std::string(output.name) +
                 (candidate.IsInput(output.name) ? "' is an input" : "' is a constant");
  }
  if (!handed_on.empty()) {
    return "no layer computes what both sides have: in the candidate's graph " + handed_on +
           ", and blame compares what layers compute from the inputs";
  }
  return "no tensor of the reference has a counterpart in the candidate's graph; names of tensors "
         "have to agree";
}

}  // namespace vernier
