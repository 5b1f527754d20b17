#include "surgeon/mixed_precision.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "model/float16/float16_functions.h"
#include "model/float16/float16_names.h"
#include "model/float16/float16_rules.h"
#include "model/float16/float16_transposes.h"
#include "model/shapes/onnx_infer.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

int32_t TypeOf(const ValueTypes& types, std::string_view name) {
  const auto found = types.find(name);
  return found == types.end() ? 0 : found->second;
}

class LowerableFinder {
 public:
  explicit LowerableFinder(const OnnxModel& model) : model_(model), functions_(model) {}

  std::vector<LowerableNode> Find() {
    const OnnxGraph& graph = model_.graph();
    Visit(graph, InferGraphTypes(model_, graph, {}), nullptr);
    return std::move(found_);
  }

 private:
  void Visit(const OnnxGraph& graph, const ValueTypes& types, const size_t* owner) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const OnnxNode& node = graph.nodes[i];
      const size_t outermost = owner != nullptr ? *owner : i;
      for (const OnnxSubgraph& link : graph.Subgraphs(node)) {
        const OnnxGraph& body = model_.Subgraph(link);
        Visit(body, InferBodyTypes(model_, graph, node, body, types), &outermost);
      }
      if (functions_.IsCall(node) || node.op_type == "Constant" ||
          !TouchesFloat(graph, node, types))
        continue;
      if (StaysFloat32(model_, functions_, graph, node, types)) continue;
      found_.push_back({&node, &graph, outermost});
    }
  }

  static bool TouchesFloat(const OnnxGraph& graph, const OnnxNode& node, const ValueTypes& types) {
    const auto is_float = [&](std::string_view name) { return TypeOf(types, name) == kOnnxFloat; };
    const auto inputs = graph.Inputs(node), outputs = graph.Outputs(node);
    return std::any_of(inputs.begin(), inputs.end(), is_float) ||
           std::any_of(outputs.begin(), outputs.end(), is_float);
  }

  const OnnxModel& model_;
  const Float16Functions functions_;
  std::vector<LowerableNode> found_;
};

// Goes through a model and its float16 form side by side: that has the same nodes, and casts.
class TypeCheck {
 public:
  TypeCheck(const OnnxModel& model, const OnnxModel& made, const Float16Kept& kept)
      : model_(model), made_(made), kept_(kept) {
    for (const LowerableNode& lowerable : FindLowerable(model)) {
      lowerable_.insert(lowerable.node);
    }
  }

  Status Check() const {
    return Graph(model_.graph(), made_.graph(), InferGraphTypes(made_, made_.graph(), {}));
  }

 private:
  Status Graph(const OnnxGraph& before, const OnnxGraph& after, const ValueTypes& types) const {
    size_t next = 0;
    for (const OnnxNode& node : after.nodes) {
      const bool same = next < before.nodes.size() && IsSame(before.nodes[next], node);
      if (!same && node.op_type == "Cast") continue;
      if (!same)
        return Internal("mixed precision: a node of operator " + QuotePython(node.op_type) +
                        " is not where it was");
      VERNIER_TRY(Node(before.nodes[next], after, node, types));
      VERNIER_TRY(Bodies(before, before.nodes[next], after, node, types));
      ++next;
    }
    if (next == before.nodes.size()) return {};
    return Internal("mixed precision: " + std::to_string(before.nodes.size() - next) +
                    " nodes of graph " + QuotePython(before.name) + " are gone");
  }

  static bool IsSame(const OnnxNode& before, const OnnxNode& after) {
    return before.op_type == after.op_type && before.name == after.name &&
           before.domain == after.domain;
  }

  Status Bodies(const OnnxGraph& before, const OnnxNode& node, const OnnxGraph& after,
                const OnnxNode& made, const ValueTypes& types) const {
    const auto bodies = before.Subgraphs(node), new_bodies = after.Subgraphs(made);
    for (size_t i = 0; i < bodies.size() && i < new_bodies.size(); ++i) {
      const OnnxGraph& body = made_.Subgraph(new_bodies[i]);
      VERNIER_TRY(
          Graph(model_.Subgraph(bodies[i]), body, InferBodyTypes(made_, after, made, body, types)));
    }
    return {};
  }

  Status Node(const OnnxNode& before, const OnnxGraph& graph, const OnnxNode& node,
              const ValueTypes& types) const {
    const auto outputs = graph.Outputs(node), inputs = graph.Inputs(node);
    if (kept_.contains(&before)) {
      for (const auto& names : {inputs, outputs}) {
        for (const std::string_view name : names) {
          if (TypeOf(types, name) == kOnnxFloat16) return Wrong(node, name, "float16");
        }
      }
    } else if (lowerable_.contains(&before) && !outputs.empty() &&
               TypeOf(types, outputs[0]) == kOnnxFloat) {
      return Wrong(node, outputs[0], "float32");
    }
    return {};
  }

  static Status Wrong(const OnnxNode& node, std::string_view tensor, std::string_view type) {
    return Internal("mixed precision: tensor " + QuotePython(tensor) + " of node " +
                    QuotePython(node.name) + " (" + std::string(node.op_type) + ") became " +
                    std::string(type));
  }

  const OnnxModel& model_;
  const OnnxModel& made_;
  const Float16Kept& kept_;
  Float16Kept lowerable_;
};

}  // namespace

std::vector<LowerableNode> FindLowerable(const OnnxModel& model) {
  return LowerableFinder(model).Find();
}

Status SaveMixed(const EditableModel& model, const Float16Kept& kept, const std::string& path,
                 SaveOnnxOptions options, std::vector<std::string>* untyped) {
  std::vector<std::string_view> outputs;
  for (const OnnxValue& output : model.now().graph().outputs) outputs.push_back(output.name);
  VERNIER_ASSIGN_OR_RETURN(const ExternalDataReport external, model.CheckWeights());
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ReplacedValues> weights, model.Weights());
  Float16Kept all = kept;
  KeepFusedTransposes(model.now(), all);
  VERNIER_ASSIGN_OR_RETURN(
      Float16Edit edit,
      ConvertToFloat16(model.now(), outputs, {&external, weights}, all, Float16Range::kSaturate));
  if (untyped != nullptr) untyped->assign(edit.untyped.begin(), edit.untyped.end());
  VERNIER_TRY(
      model.Save(path, std::move(options), std::move(edit.values), std::move(edit.patches)));
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel made, OnnxModel::Open(path));
  return CheckProducedTypes(model.now(), made, all);
}

Status CheckProducedTypes(const OnnxModel& model, const OnnxModel& made, const Float16Kept& kept) {
  return TypeCheck(model, made, kept).Check();
}

}  // namespace vernier
