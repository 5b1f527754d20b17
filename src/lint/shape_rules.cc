// Shapes: what operators can take together, and what the model declares. Only sizes that are fixed
// are looked at; what is free is a runtime's business.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "lint/rule_groups.h"
#include "model/onnx/onnx_attributes.h"
#include "model/onnx/onnx_order.h"

namespace vernier {
namespace {

using Fault = std::optional<std::string>;

// One node and the sizes of its inputs.
struct ShapedNode {
  const LintNode& at;
  const ShapeTracker& shapes;
  NodeAttributes attributes;

  // nullptr where they are unknown or there is no such input.
  const Dims* Input(size_t index) const {
    const auto inputs = at.inputs();
    return index < inputs.size() && !inputs[index].empty() ? shapes.Find(inputs[index]) : nullptr;
  }
};

std::string Pair(const Dims& a, const Dims& b) { return FormatDims(a) + " and " + FormatDims(b); }

Fault Broadcast(ShapedNode& node) {
  Dims all;
  for (size_t i = 0; i < node.at.inputs().size(); ++i) {
    const Dims* dims = node.Input(i);
    if (dims == nullptr) return std::nullopt;
    if (dims->size() > all.size()) all.insert(all.begin(), dims->size() - all.size(), 1);
    for (size_t back = 1; back <= dims->size(); ++back) {
      const int64_t size = (*dims)[dims->size() - back];
      int64_t& known = all[all.size() - back];
      if (size != known && size != 1 && known != 1) {
        return "Incompatible dimensions: " + FormatDims(*dims) + " cannot be broadcast with " +
               FormatDims(all);
      }
      if (known == 1) known = size;
    }
  }
  return std::nullopt;
}

Fault MatMul(ShapedNode& node) {
  const Dims* a = node.Input(0);
  const Dims* b = node.Input(1);
  if (a == nullptr || b == nullptr) return std::nullopt;
  if (a->empty() || b->empty()) return "Input tensors of wrong rank (0).";
  const int64_t rows = b->size() == 1 ? b->front() : (*b)[b->size() - 2];
  if (a->back() == rows) return std::nullopt;
  return "Incompatible dimensions for matrix multiplication: " + Pair(*a, *b);
}

Fault Gemm(ShapedNode& node) {
  const Dims* a = node.Input(0);
  const Dims* b = node.Input(1);
  if (a == nullptr || b == nullptr) return std::nullopt;
  if (a->size() != 2 || b->size() != 2) return "Gemm takes matrices, not " + Pair(*a, *b);
  const int64_t columns = (*a)[node.attributes.Int("transA", 0) != 0 ? 0 : 1];
  const int64_t rows = (*b)[node.attributes.Int("transB", 0) != 0 ? 1 : 0];
  if (columns == rows) return std::nullopt;
  return "Dimension mismatch in unification between " + std::to_string(columns) + " and " +
         std::to_string(rows) + ": Gemm of " + Pair(*a, *b);
}

Fault Conv(ShapedNode& node) {
  const Dims* x = node.Input(0);
  const Dims* w = node.Input(1);
  if (x == nullptr || w == nullptr || x->size() < 2 || w->size() < 2) return std::nullopt;
  if (x->size() != w->size()) return "Conv of ranks that differ: " + Pair(*x, *w);
  const int64_t group = node.attributes.Int("group", 1);
  int64_t channels = 0;
  const bool overflow = __builtin_mul_overflow((*w)[1], group, &channels);
  if (!overflow && (*x)[1] == channels) return std::nullopt;
  return "Input channels C is not equal to kernel channels * group. C: " + std::to_string((*x)[1]) +
         " kernel channels: " + std::to_string((*w)[1]) + " group: " + std::to_string(group);
}

// Brings an axis into 0..rank-1; nullopt if it is not one.
std::optional<size_t> Axis(int64_t axis, size_t rank) {
  const auto dims = static_cast<int64_t>(rank);
  if (axis < -dims || axis >= dims) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + dims : axis);
}

std::string NoAxis(int64_t axis, size_t rank) {
  const std::string end = std::to_string(rank);
  return "'axis' must be in [-" + end + " , " + std::to_string(static_cast<int64_t>(rank) - 1) +
         "]. Its actual value is: " + std::to_string(axis);
}

Fault Concat(ShapedNode& node) {
  const Dims* first = node.Input(0);
  if (first == nullptr) return std::nullopt;
  const int64_t given = node.attributes.Int("axis", 1);
  const std::optional<size_t> axis = Axis(given, first->size());
  if (!axis) return NoAxis(given, first->size());
  for (size_t i = 1; i < node.at.inputs().size(); ++i) {
    const Dims* next = node.Input(i);
    if (next == nullptr) continue;
    bool fits = next->size() == first->size();
    for (size_t d = 0; fits && d < first->size(); ++d)
      fits = d == *axis || (*next)[d] == (*first)[d];
    if (fits) continue;
    return "inputs of Concat differ beside axis " + std::to_string(*axis) + ": " +
           Pair(*first, *next);
  }
  return std::nullopt;
}

Fault Reshape(ShapedNode& node) {
  const Dims* x = node.Input(0);
  const auto inputs = node.at.inputs();
  if (x == nullptr || inputs.size() < 2) return std::nullopt;
  std::optional<std::vector<int64_t>> wanted = node.shapes.Ints(inputs[1]);
  const std::optional<int64_t> all = ElementCount(*x);
  if (!wanted || !all) return std::nullopt;
  const std::string text = FormatDims(*wanted);
  const std::string from = " of " + std::to_string(*all) + " elements " + FormatDims(*x);
  const bool copy_zero = node.attributes.Int("allowzero", 0) == 0;
  size_t open = 0;
  for (size_t i = 0; i < wanted->size(); ++i) {
    int64_t& size = (*wanted)[i];
    if (size == 0 && copy_zero && i >= x->size()) return "Reshape to " + text + from;
    if (size == 0 && copy_zero) size = (*x)[i];
    if (size < -1) return "Reshape to " + text + from;
    open += size == -1 ? 1 : 0;
    if (size == -1) size = 1;
  }
  const std::optional<int64_t> rest = ElementCount(*wanted);
  if (open > 1) return "Reshape to " + text + ", where two sizes are left open";
  const bool fits = rest && (open == 0 ? *rest == *all : *rest != 0 && *all % *rest == 0);
  return fits || (open == 1 && rest == 0) ? Fault() : Fault("Reshape to " + text + from);
}

Fault Transpose(ShapedNode& node) {
  const Dims* x = node.Input(0);
  std::vector<int64_t> order = node.attributes.Ints("perm");
  if (x == nullptr || order.empty()) return std::nullopt;
  const std::string text = FormatDims(order);
  std::sort(order.begin(), order.end());
  bool fits = order.size() == x->size();
  for (size_t i = 0; fits && i < order.size(); ++i) fits = order[i] == static_cast<int64_t>(i);
  if (fits) return std::nullopt;
  return "Invalid attribute perm " + text + ", input shape = " + FormatDims(*x);
}

Fault OneAxis(ShapedNode& node) {
  const Dims* x = node.Input(0);
  const OnnxAttribute* axis = node.attributes.Find("axis");
  if (x == nullptr || axis == nullptr || Axis(axis->i, x->size())) return std::nullopt;
  // Flattening behind the last dimension is allowed.
  if (node.at.node.op_type == "Flatten" && axis->i == static_cast<int64_t>(x->size())) return {};
  return NoAxis(axis->i, x->size());
}

Fault SeveralAxes(ShapedNode& node) {
  const Dims* x = node.Input(0);
  const auto axes = node.shapes.Axes(node.at.graph, node.at.node);
  if (x == nullptr || !axes) return std::nullopt;
  const size_t rank = x->size() + (node.at.node.op_type == "Unsqueeze" ? axes->size() : 0);
  for (const int64_t given : *axes) {
    const std::optional<size_t> axis = Axis(given, rank);
    if (!axis) return NoAxis(given, rank);
    if (node.at.node.op_type != "Squeeze" || (*x)[*axis] == 1) continue;
    return "Squeeze of axis " + std::to_string(*axis) + " of " + FormatDims(*x) +
           ", whose size is not 1";
  }
  return std::nullopt;
}

Fault Normalization(ShapedNode& node) {
  const Dims* x = node.Input(0);
  const Dims* scale = node.Input(1);
  // Before opset 9 a scale could be one of every element.
  const bool by_channel = node.attributes.Int("spatial", 1) != 0;
  if (x == nullptr || scale == nullptr || x->size() < 2 || !by_channel) return std::nullopt;
  if (scale->size() == 1 && scale->front() == (*x)[1]) return std::nullopt;
  return "a scale of shape " + FormatDims(*scale) + " for " + std::to_string((*x)[1]) +
         " channels of " + FormatDims(*x);
}

struct ShapeCheckRow {
  std::string_view operators;  // separated by blanks, with one before and after each
  Fault (*check)(ShapedNode&);
};

constexpr ShapeCheckRow kChecks[] = {
    {" Add And BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual "
     "Max Mean Min Mod Mul Or Pow Sub Sum Where Xor ",
     Broadcast},
    {" MatMul MatMulInteger ", MatMul},
    {" Gemm ", Gemm},
    {" Conv ConvInteger ", Conv},
    {" Concat ", Concat},
    {" Reshape ", Reshape},
    {" Transpose ", Transpose},
    {" ArgMax ArgMin Flatten Gather GatherElements Hardmax LayerNormalization LogSoftmax "
     "ScatterElements Softmax Split TopK ",
     OneAxis},
    {" ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSum ReduceSumSquare Squeeze Unsqueeze ",
     SeveralAxes},
    {" BatchNormalization InstanceNormalization ", Normalization},
};

// The rules are those of opsets without the broadcasting attributes of old.
constexpr int64_t kFirstOpset = 7;

Fault Judge(ShapedNode& node) {
  const std::string word = " " + std::string(node.at.node.op_type) + " ";
  for (const ShapeCheckRow& row : kChecks) {
    if (row.operators.find(word) != std::string_view::npos) return row.check(node);
  }
  return std::nullopt;
}

std::string Braces(const std::vector<Dim>& dims) {
  std::string text = "{";
  for (const Dim& dim : dims) {
    if (text.size() > 1) text += ",";
    text += dim.dynamic() ? (dim.symbol.empty() ? "?" : dim.symbol) : std::to_string(dim.value);
  }
  return text + "}";
}

class ShapeCheck {
 public:
  explicit ShapeCheck(const LintSubject& subject)
      : subject_(subject), shapes_(subject.model, subject.inputs, ShapeTrust::kInputs) {
    const OnnxGraph& graph = subject.model.graph();
    for (const auto* values : {&graph.value_info, &graph.outputs}) {
      for (const OnnxValue& value : *values) declared_.emplace(value.name, &value);
    }
  }

  void Run() {
    const Result<std::vector<uint32_t>> order = TopologicalOrder(subject_.model);
    if (!order.ok()) return;  // a cycle, which has a rule of its own
    const OnnxGraph& graph = subject_.model.graph();
    for (const uint32_t i : *order) Node({graph, graph.nodes[i], i, false});
  }

 private:
  void Node(const LintNode& at) {
    const bool known =
        OperatorTable::Domain(at.node.domain).empty() && subject_.Operator(at.node) != nullptr;
    const bool failed = subject_.findings.Failed(at.top);
    Fault fault;
    if (known && !failed) {
      ShapedNode node{at, shapes_, NodeAttributes(subject_.model, at.node)};
      fault = Judge(node);
    }
    if (fault) subject_.findings.Add(lint_rule::kShapeMismatch, *std::move(fault), at);
    if (!failed && !fault) shapes_.Visit(at.graph, at.node);
    for (const std::string_view name : at.outputs()) Declaration(at, name);
  }

  void Declaration(const LintNode& at, std::string_view name) {
    const auto declared = declared_.find(name);
    if (name.empty() || declared == declared_.end()) return;
    const Dims* made = shapes_.Find(name);
    if (made == nullptr) return shapes_.Assume(*declared->second);
    const std::optional<std::vector<Dim>> declared_dims = ToTensorInfo(*declared->second).shape;
    if (!declared_dims) return;
    bool fits = declared_dims->size() == made->size();
    for (size_t i = 0; fits && i < made->size(); ++i) {
      fits = (*declared_dims)[i].dynamic() || (*declared_dims)[i].value == (*made)[i];
    }
    if (fits) return;
    std::vector<Dim> found;
    for (const int64_t size : *made) found.push_back({size, {}});
    subject_.findings.Add(lint_rule::kDeclaredShape,
                          "'" + std::string(name) + "' is declared as " + Braces(*declared_dims) +
                              ", but " + std::string(at.node.op_type) + " makes " + Braces(found),
                          at);
  }

  const LintSubject& subject_;
  ShapeTracker shapes_;
  std::unordered_map<std::string_view, const OnnxValue*> declared_;
};

}  // namespace

void CheckShapes(const LintSubject& subject) {
  if (subject.Opset({}) >= kFirstOpset) ShapeCheck(subject).Run();
}

}  // namespace vernier
