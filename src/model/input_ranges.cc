#include "model/input_ranges.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/input_uses.h"
#include "model/onnx_attributes.h"
#include "model/onnx_order.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// A way through a graph is not followed further than this.
constexpr size_t kLongestWay = 64;

// An input's value on its way: times `scale` (never 0) and with `shift` added, and possibly turned
// into another kind.
struct Way {
  std::string_view name;
  int64_t scale = 1;
  int64_t shift = 0;
  ValueKind kind;
  size_t length = 0;
};

int64_t FloorDivide(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  return value % by != 0 && (value < 0) != (by < 0) ? quotient - 1 : quotient;
}

// The x for which scale * x + shift lies in [low, high]; false where they are beyond 64 bits.
bool Unscale(const Way& way, int64_t& low, int64_t& high) {
  const bool open = high == kAnything;
  if (__builtin_sub_overflow(low, way.shift, &low)) return false;
  if (!open && __builtin_sub_overflow(high, way.shift, &high)) return false;
  if (way.scale == 1) return true;
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  if (low == kLeast || (!open && high == kLeast)) return false;
  // The least whole number above a / b is the opposite of the largest one below -a / b.
  const int64_t from_low =
      way.scale > 0 ? -FloorDivide(-low, way.scale) : FloorDivide(low, way.scale);
  const int64_t from_high = open            ? (way.scale > 0 ? kAnything : kLeast)
                            : way.scale > 0 ? FloorDivide(high, way.scale)
                                            : -FloorDivide(-high, way.scale);
  low = way.scale > 0 ? from_low : from_high;
  high = way.scale > 0 ? from_high : from_low;
  return true;
}

class RangeFinder {
 public:
  RangeFinder(const OnnxModel& model, std::span<const InputDims> sizes)
      : model_(model), shapes_(model, sizes) {
    Collect(model.graph());
    Result<std::vector<uint32_t>> order = TopologicalOrder(model);
    if (!order.ok()) return;
    for (const uint32_t i : *order) shapes_.Visit(model.graph(), model.graph().nodes[i]);
  }

  GraphRanges Find() {
    GraphRanges found;
    std::unordered_set<std::string_view> constants;
    for (const OnnxTensor& tensor : model_.graph().initializers) constants.insert(tensor.name);
    for (const OnnxValue& input : model_.graph().inputs) {
      const DTypeKind kind = Kind(input.dtype);
      const bool integer = kind == DTypeKind::kSignedInt || kind == DTypeKind::kUnsignedInt;
      const bool truth = kind == DTypeKind::kBool;
      if (constants.contains(input.name)) continue;
      if (!integer && !truth && kind != DTypeKind::kFloat) continue;
      low_ = std::numeric_limits<int64_t>::min();
      high_ = kAnything;
      reason_.clear();
      impossible_.clear();
      seen_.clear();
      Follow({.name = input.name, .kind = {.integer = integer, .truth = truth}});
      Conclude(input, found);
    }
    return found;
  }

 private:
  void Collect(const OnnxGraph& graph) {
    for (const OnnxNode& node : graph.nodes) {
      const auto inputs = graph.Inputs(node);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].empty()) uses_[inputs[i]].push_back({graph, node, i});
      }
      for (const OnnxSubgraph& link : graph.Subgraphs(node)) {
        const OnnxGraph& body = model_.Subgraph(link);
        LinkBody(graph, node, body);
        Collect(body);
      }
    }
  }

  // What goes into a body and comes out of it. Its inputs are the last ones of the node (a Loop's
  // first two are the count and the condition), and its outputs the node's, behind a Loop's
  // condition.
  void LinkBody(const OnnxGraph& graph, const OnnxNode& node, const OnnxGraph& body) {
    const bool loops = node.op_type == "Loop";
    const auto inputs = graph.Inputs(node);
    const auto outputs = graph.Outputs(node);
    for (size_t i = loops ? 2 : 0; i < std::min(inputs.size(), body.inputs.size()); ++i) {
      if (node.op_type != "If") continues_[inputs[i]].push_back(body.inputs[i].name);
    }
    const size_t skipped = loops ? 1 : 0;
    for (size_t i = 0; i < outputs.size() && i + skipped < body.outputs.size(); ++i) {
      continues_[body.outputs[i + skipped].name].push_back(outputs[i]);
    }
  }

  void Conclude(const OnnxValue& input, GraphRanges& found) {
    const std::string name(input.name);
    if (!impossible_.empty()) return found.unranged.push_back({name, impossible_});
    if (reason_.empty()) return;
    if (low_ > high_) {
      return found.unranged.push_back({name, "uses exclude each other: " + reason_});
    }
    const auto [least, most] = Limits(input.dtype);
    const int64_t low = std::max(low_, least), high = std::min(high_, most);
    if (low > high) {
      return found.unranged.push_back(
          {name, "no " + std::string(DTypeName(input.dtype)) + " is legal as " + reason_});
    }
    found.ranges.push_back({name, low, high, reason_});
  }

  // What integers of a type hold; anything else holds all that ranges are made of.
  static std::pair<int64_t, int64_t> Limits(DType dtype) {
    const DTypeKind kind = Kind(dtype);
    const bool is_unsigned = kind == DTypeKind::kUnsignedInt;
    constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
    const int bits = BitsOf(dtype);
    if (kind == DTypeKind::kFloat || bits >= 64) return {is_unsigned ? 0 : kLeast, kAnything};
    const int64_t most = (int64_t{1} << (bits - (is_unsigned ? 0 : 1))) - 1;
    return {is_unsigned ? 0 : -most - 1, most};
  }

  void Follow(const Way& way) {
    if (way.length > kLongestWay || !seen_.insert(way.name).second) return;
    if (const auto next = continues_.find(way.name); next != continues_.end()) {
      for (const std::string_view name : next->second) FollowAs(name, way);
    }
    const auto found = uses_.find(way.name);
    if (found == uses_.end()) return;
    for (const Use& use : found->second) {
      if (std::optional<Allowed> allowed = rules_.Judge(use, way.kind)) {
        Narrow(use, way, *allowed);
      } else {
        GoOn(use, way);
      }
    }
  }

  void FollowAs(std::string_view name, Way way) {
    way.name = name;
    ++way.length;
    Follow(way);
  }

  void Narrow(const Use& use, const Way& way, const Allowed& allowed) {
    std::string text = allowed.what + " of " + std::string(use.node.op_type);
    if (!use.node.name.empty()) text += " " + QuotePython(use.node.name);
    int64_t low = allowed.low, high = allowed.high;
    if (!allowed.possible || !Unscale(way, low, high)) {
      if (impossible_.empty()) impossible_ = std::move(text);
      return;
    }
    if (low <= low_ && high >= high_) return;  // no news
    low_ = std::max(low_, low);
    high_ = std::min(high_, high);
    reason_ += (reason_.empty() ? "" : "; ") + text;
  }

  // Operators whose output has values of their first input, or none that are farther out.
  static bool KeepsValues(std::string_view op) {
    constexpr std::string_view kKeeping[] = {
        "Cast",         "CastLike",       "Identity", "Reshape",
        "Unsqueeze",    "Squeeze",        "Flatten",  "Transpose",
        "Expand",       "Tile",           "Slice",    "Gather",
        "Concat",       "Split",          "Dropout",  "Clip",
        "DepthToSpace", "SpaceToDepth",   "Pad",      "Trilu",
        "Abs",          "GatherElements", "GatherND", "Compress",
        "ReduceMax",    "ReduceMin",      "Max",      "Min",
        "Floor",        "Ceil",           "Round"};
    return std::find(std::begin(kKeeping), std::end(kKeeping), op) != std::end(kKeeping);
  }

  void GoOn(const Use& use, Way way) {
    const std::string_view op = use.node.op_type;
    const bool first = use.input == 0 || op == "Concat" || op == "Max" || op == "Min";
    if (first && KeepsValues(op)) {
      NodeAttributes attributes(model_, use.node);
      if (op == "Cast") ThroughCast(attributes.Int("to", 0), way);
      return Further(use, way);
    }
    if (op == "Where" && use.input > 0) return Further(use, way);
    if (way.kind.truth) {
      way.kind.turned |= op == "Not" || op == "Xor";
      if (op == "Not" || op == "And" || op == "Or" || op == "Xor") Further(use, way);
      return;
    }
    if (const std::optional<int64_t> constant = ComparedWith(use, way)) {
      way.kind.truth = true;
      way.kind.turned = !HoldsForOne(use, *constant);
      return Further(use, way);
    }
    if (ThroughArithmetic(use, way)) Further(use, way);
  }

  // 0 or 1, as masks are compared with.
  std::optional<int64_t> ComparedWith(const Use& use, const Way& way) {
    const std::string_view op = use.node.op_type;
    const bool compares = op == "Equal" || op == "Greater" || op == "Less" ||
                          op == "GreaterOrEqual" || op == "LessOrEqual";
    if (!compares || !way.kind.integer || way.scale != 1 || way.shift != 0) return {};
    const std::optional<std::vector<int64_t>> constant = shapes_.Ints(InputOf(use, 1 - use.input));
    const bool fits =
        constant && constant->size() == 1 && (constant->front() == 0 || constant->front() == 1);
    return fits ? std::optional(constant->front()) : std::nullopt;
  }

  // Whether the comparison with a constant is true of an input of 1.
  static bool HoldsForOne(const Use& use, int64_t constant) {
    const std::string_view op = use.node.op_type;
    const int64_t left = use.input == 0 ? 1 : constant, right = use.input == 0 ? constant : 1;
    if (op == "Equal") return left == right;
    const bool or_equal = op.ends_with("OrEqual") && left == right;
    return or_equal || (op.starts_with("Greater") ? left > right : left < right);
  }

  // Adding a constant, taking from it or from one, times one. False for anything else.
  bool ThroughArithmetic(const Use& use, Way& way) {
    const std::string_view op = use.node.op_type;
    if (op == "Neg") return ScaleAndShift(-1, 0, way);
    if (op != "Add" && op != "Sub" && op != "Mul") return false;
    if (use.graph.Inputs(use.node).size() != 2) return false;
    const std::optional<std::vector<int64_t>> constant = shapes_.Ints(InputOf(use, 1 - use.input));
    if (!constant || constant->size() != 1) return false;
    const int64_t by = constant->front();
    if (op == "Add") return ScaleAndShift(1, by, way);
    if (op == "Mul") return by != 0 && ScaleAndShift(by, 0, way);
    if (use.input == 1) return ScaleAndShift(-1, by, way);
    int64_t opposite = 0;
    return !__builtin_sub_overflow(int64_t{0}, by, &opposite) && ScaleAndShift(1, opposite, way);
  }

  static bool ScaleAndShift(int64_t scale, int64_t shift, Way& way) {
    return !__builtin_mul_overflow(way.scale, scale, &way.scale) &&
           !__builtin_mul_overflow(way.shift, scale, &way.shift) &&
           !__builtin_add_overflow(way.shift, shift, &way.shift);
  }

  static void ThroughCast(int64_t to, Way& way) {
    const DType type = DTypeFromOnnx(static_cast<int32_t>(to)).value_or(DType::kUndefined);
    const DTypeKind kind = Kind(type);
    if (kind == DTypeKind::kSignedInt || kind == DTypeKind::kUnsignedInt) way.kind.integer = true;
    if (kind == DTypeKind::kBool) way.kind.mask = true;
  }

  void Further(const Use& use, const Way& way) {
    for (const std::string_view output : use.graph.Outputs(use.node)) {
      if (output.empty()) continue;
      Way next = way;
      next.name = output;
      next.length = way.length + 1;
      Follow(next);
    }
  }

  const OnnxModel& model_;
  ShapeTracker shapes_;
  UseRules rules_{model_, shapes_};
  std::unordered_map<std::string_view, std::vector<Use>> uses_;
  // What is called otherwise inside of a body, or outside of it.
  std::unordered_map<std::string_view, std::vector<std::string_view>> continues_;
  // Of the input that is looked at.
  int64_t low_ = 0, high_ = 0;
  std::string reason_, impossible_;
  std::unordered_set<std::string_view> seen_;
};

}  // namespace

GraphRanges FindInputRanges(const OnnxModel& model, std::span<const InputDims> sizes) {
  return RangeFinder(model, sizes).Find();
}

}  // namespace vernier
