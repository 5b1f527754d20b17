#include "module_state.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

namespace vernier {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

// Where a value may come from, as bits.
using Origin = unsigned;
constexpr Origin kOwn = 1;    // it is the module's, or a view of that
constexpr Origin kHolds = 2;  // new, but the module's values are in it: a list of attributes
constexpr Origin kFixed = 4;  // of the code: copies of the module share it

// Can a write change a value of this type?
bool MayChange(const Value& value) {
  constexpr c10::TypeKind kKinds[] = {
      c10::TypeKind::IntType,       c10::TypeKind::FloatType,   c10::TypeKind::BoolType,
      c10::TypeKind::StringType,    c10::TypeKind::NoneType,    c10::TypeKind::NumberType,
      c10::TypeKind::DeviceObjType, c10::TypeKind::ComplexType, c10::TypeKind::GeneratorType};
  return std::ranges::find(kKinds, value.type()->kind()) == std::end(kKinds);
}

bool IsTensorValue(const Value& value) { return value.type()->kind() == c10::TypeKind::TensorType; }

bool HoldsOthers(const Value& value) { return MayChange(value) && !IsTensorValue(value); }

// Of a module that is not trained: is it `training`, or what a branch on that gives?
bool IsFalse(const Value& value) {
  const Node& node = *value.node();
  if (node.kind() == prim::Constant) {
    const auto constant = torch::jit::toIValue(&value);
    return constant && constant->isBool() && !constant->toBool();
  }
  if (node.kind() == prim::GetAttr) return node.s(torch::jit::attr::name) == "training";
  if (node.kind() != prim::If || !IsFalse(*node.input(0))) return false;
  return IsFalse(*node.blocks().at(1)->outputs().at(value.offset()));
}

// Operators of TorchScript's own say nothing of what they hand on.
const c10::FunctionSchema* SchemaOf(const Node& node) {
  return node.kind().is_prim() ? nullptr : node.maybeSchema();
}

// None for what a schema takes any number of, as `format` does.
const c10::AliasInfo* AliasOf(const std::vector<c10::Argument>& arguments, size_t place) {
  return place < arguments.size() ? arguments[place].alias_info() : nullptr;
}

// Follows what is the module's through the code, until nothing more is found.
class StateSearch {
 public:
  ModuleState Find(torch::jit::Graph& graph) {
    Add(*graph.inputs().front(), kOwn);
    while (changed_) {
      changed_ = false;
      Visit(*graph.block());
    }
    return found_;
  }

 private:
  Origin Of(const Value& value) const {
    const auto known = origins_.find(&value);
    return known == origins_.end() ? 0 : known->second;
  }

  void Add(const Value& value, Origin origin) {
    if (origin == 0 || !MayChange(value)) return;
    Origin& known = origins_[&value];
    changed_ |= (known | origin) != known;
    known |= origin;
  }

  void AddAll(at::ArrayRef<const Value*> from, at::ArrayRef<const Value*> to) {
    for (size_t i = 0; i < from.size() && i < to.size(); ++i) Add(*to[i], Of(*from[i]));
  }

  void NoteWrite(Origin origin) {
    if ((origin & kOwn) == 0) return;
    found_.kept = true;
    if ((origin & kFixed) != 0) found_.in_copies = false;
  }

  void Visit(const Block& block) {
    for (const Node* node : block.nodes()) Visit(*node);
  }

  void Visit(const Node& node) {
    if (node.kind() == prim::If) return VisitBranches(node);
    if (node.kind() == prim::Loop) return VisitLoop(node);
    if (node.hasAttribute(torch::jit::attr::Subgraph)) return VisitFork(node);
    if (node.kind() == prim::Constant) return Add(*node.output(), kOwn | kFixed);
    if (node.kind() == prim::GetAttr) return VisitRead(node);
    if (node.kind() == prim::SetAttr) return Put(*node.input(0), Of(*node.input(1)), true);
    if (node.kind() == prim::CallMethod || node.kind() == prim::CallFunction) {
      return VisitUnseen(node);
    }
    VisitWrites(node);
    VisitStatistics(node);
    for (const Value* output : node.outputs()) Add(*output, OfOutput(node, *output));
  }

  void VisitBranches(const Node& node) {
    const bool never_first = IsFalse(*node.input(0));
    for (const Block* branch : node.blocks()) {
      if (never_first && branch == node.blocks().front()) continue;
      Visit(*branch);
      AddAll(branch->outputs(), node.outputs());
    }
  }

  // Inputs: how often, whether to begin, and what is carried on. The body has the number of the
  // round before that, and gives whether to go on.
  void VisitLoop(const Node& node) {
    const Block& body = *node.blocks().front();
    AddAll(node.inputs().slice(2), body.inputs().slice(1));
    Visit(body);
    AddAll(body.outputs().slice(1), body.inputs().slice(1));
    AddAll(body.inputs().slice(1), node.outputs());
  }

  void VisitFork(const Node& node) {
    std::shared_ptr<torch::jit::Graph>& inner = forks_[&node];
    if (inner == nullptr) {
      inner = node.g(torch::jit::attr::Subgraph)->copy();
      torch::jit::Inline(*inner);
    }
    const Block& code = *inner->block();
    AddAll(node.inputs(), code.inputs());
    Visit(code);
    AddAll(code.outputs(), node.outputs());
  }

  void VisitRead(const Node& node) {
    const Origin whole = Of(*node.input(0));
    if (whole != 0) Add(*node.output(), kOwn | (whole & kFixed));
  }

  // What it does to the module's values is unknown.
  void VisitUnseen(const Node& node) {
    const bool has_own = std::ranges::any_of(
        node.inputs(), [&](const Value* input) { return (Of(*input) & (kOwn | kHolds)) != 0; });
    if (!has_own) return;
    NoteWrite(kOwn | kFixed);
    const bool named = node.hasAttribute(torch::jit::attr::name);
    found_.unseen = named ? node.s(torch::jit::attr::name) : node.kind().toUnqualString();
    for (const Value* output : node.outputs()) Add(*output, kOwn | kFixed);
  }

  // What is put into a value is in it from then on.
  void Put(const Value& whole, Origin part, bool writes) {
    if (writes) NoteWrite(Of(whole));
    if (part != 0 && HoldsOthers(whole)) Add(whole, kHolds | (part & kFixed));
  }

  void VisitWrites(const Node& node) {
    const c10::FunctionSchema* const schema = SchemaOf(node);
    if (schema == nullptr || !schema->is_mutable()) return;
    const bool in_list = std::string_view(node.kind().toUnqualString()).starts_with("_foreach_");
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Value& input = *node.input(i);
      const auto* const alias = AliasOf(schema->arguments(), i);
      const bool written = i == 0 || (IsTensorValue(input) && alias != nullptr && alias->isWrite());
      if (written) NoteWrite(in_list && Of(input) != 0 ? Of(input) | kOwn : Of(input));
      if (i > 0) Put(*node.input(0), Of(input), false);
    }
  }

  // Normalisations write to running statistics where they are asked to train, which their schemas
  // do not say.
  void VisitStatistics(const Node& node) {
    const c10::FunctionSchema* const schema = SchemaOf(node);
    if (schema == nullptr) return;
    const auto training = schema->argumentIndexWithName("training");
    const auto flag = training ? training : schema->argumentIndexWithName("use_input_stats");
    if (!flag || IsFalse(*node.input(*flag))) return;
    for (const char* const name : {"running_mean", "running_var"}) {
      if (const auto place = schema->argumentIndexWithName(name))
        NoteWrite(Of(*node.input(*place)));
    }
  }

  // Of the inputs that an output may be, or be made of.
  Origin OfSources(const Node& node) const {
    const c10::FunctionSchema* const schema = SchemaOf(node);
    Origin sources = 0;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const bool passes = schema == nullptr || HoldsOthers(*node.input(i)) ||
                          AliasOf(schema->arguments(), i) != nullptr;
      if (passes) sources |= Of(*node.input(i));
    }
    return sources;
  }

  Origin OfOutput(const Node& node, const Value& output) const {
    const Origin sources = OfSources(node);
    if (sources == 0) return 0;
    const c10::FunctionSchema* const schema = SchemaOf(node);
    const bool waits = node.kind() == c10::Symbol::fromQualString("aten::wait");
    const bool handed_on =
        schema == nullptr || waits || AliasOf(schema->returns(), output.offset()) != nullptr;
    if (IsTensorValue(output)) return handed_on ? kOwn | (sources & kFixed) : 0;
    const bool is_new = !handed_on || node.kind() == prim::ListConstruct ||
                        node.kind() == prim::TupleConstruct || node.kind() == prim::DictConstruct;
    if (is_new) return kHolds | (sources & kFixed);
    const bool is_same =
        node.kind() == prim::unchecked_cast || *output.type() == *node.input(0)->type();
    return is_same ? sources : kOwn | (sources & kFixed);
  }

  std::map<const Value*, Origin> origins_;
  std::map<const Node*, std::shared_ptr<torch::jit::Graph>> forks_;
  ModuleState found_;
  bool changed_ = false;
};

bool IsSameView(const at::Tensor& a, const at::Tensor& b) {
  return a.storage_offset() == b.storage_offset() && a.sizes() == b.sizes() &&
         a.strides() == b.strides() && a.dtype() == b.dtype();
}

// Have two of its tensors memory in common, without being the same? PyTorch's copies of such a
// module confuse them.
bool SharesMemory(const torch::jit::Module& module) {
  std::map<const void*, at::Tensor> known;
  bool shares = false;
  c10::IValue(module._ivalue()).visit([&](const c10::IValue& value) {
    if (!value.isTensor() || !value.toTensor().has_storage()) return false;
    const at::Tensor& tensor = value.toTensor();
    const auto [other, is_new] = known.emplace(tensor.storage().unsafeGetStorageImpl(), tensor);
    shares |= !is_new && !IsSameView(other->second, tensor);
    return false;
  });
  return shares;
}

}  // namespace

std::shared_ptr<torch::jit::Graph> InlinedForward(const torch::jit::Module& module) {
  auto graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  return graph;
}

ModuleState FindModuleState(const torch::jit::Module& module) {
  ModuleState state = StateSearch().Find(*InlinedForward(module));
  if (state.kept && state.in_copies) state.in_copies = !SharesMemory(module);
  return state;
}

}  // namespace vernier
