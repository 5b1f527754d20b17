#include "model/ranges/value_path.h"

#include <algorithm>
#include <cmath>

#include "model/onnx/onnx_attributes.h"
#include "util/values/list_has.h"

namespace vernier {
namespace {

using Step = ValueStep::Kind;

// Operators whose output has values of their first input, or none that are farther out.
constexpr std::string_view kKeeping[] = {
    "Abs",    "Cast",      "CastLike",       "Ceil",         "Clip",           "Compress",
    "Concat", "Dropout",   "Expand",         "DepthToSpace", "Flatten",        "Floor",
    "Gather", "GatherND",  "Identity",       "Max",          "GatherElements", "Min",
    "Pad",    "Relu",      "ReduceMax",      "ReduceMin",    "Reshape",        "Round",
    "Slice",  "Split",     "Squeeze",        "SpaceToDepth", "Tile",           "Transpose",
    "Trilu",  "Unsqueeze", "ReverseSequence"};

// Operators that make other numbers of numbers.
constexpr std::string_view kComputing[] = {"Add",
                                           "BitShift",
                                           "BitwiseAnd",
                                           "BitwiseNot",
                                           "BitwiseOr",
                                           "BitwiseXor",
                                           "CumProd",
                                           "CumSum",
                                           "Div",
                                           "Exp",
                                           "Log",
                                           "Mean",
                                           "Mod",
                                           "Mul",
                                           "Neg",
                                           "Pow",
                                           "Reciprocal",
                                           "ReduceL1",
                                           "ReduceL2",
                                           "ReduceMean",
                                           "ReduceProd",
                                           "ReduceSum",
                                           "ScatterND",
                                           "Sign",
                                           "Sqrt",
                                           "Sub",
                                           "Sum",
                                           "ScatterElements",
                                           "ReduceSumSquare"};

bool Keeps(const Use& use) {
  const std::string_view op = use.node.op_type;
  if (op == "Where") return use.input > 0;
  const bool any = op == "Concat" || op == "Max" || op == "Min";
  return (any || use.input == 0) && ListHas(kKeeping, op);
}

void AddStep(Step kind, int64_t by, ValuePath& way) {
  way.steps.push_back({.kind = kind, .by = by, .range = {}});
}

void AddClip(Interval clip, ValuePath& way) {
  way.steps.push_back({.kind = Step::kClip, .by = 0, .range = clip});
}

void AddSum(Interval other, ValuePath& way) {
  way.steps.push_back({.kind = Step::kAdd, .by = 0, .range = other});
}

void ThroughCast(int64_t to, ValuePath& way) {
  const DType type = DTypeFromOnnx(static_cast<int32_t>(to)).value_or(DType::kUndefined);
  way.whole = IsIntegral(type);
  way.kind.integer |= way.whole;
  way.kind.mask |= type == DType::kBool;
}

// Whether the comparison with a constant is true of an input of 1.
bool HoldsForOne(const Use& use, int64_t constant) {
  const std::string_view op = use.node.op_type;
  const int64_t left = use.input == 0 ? 1 : constant, right = use.input == 0 ? constant : 1;
  if (op == "Equal") return left == right;
  const bool or_equal = op.ends_with("OrEqual") && left == right;
  return or_equal || (op.starts_with("Greater") ? left > right : left < right);
}

}  // namespace

bool WayRules::PassesOn(const Use& use) {
  return Keeps(use) || ListHas(kComputing, use.node.op_type);
}

bool WayRules::Take(const Use& use, ValuePath& way) {
  if (Keeps(use)) {
    Keep(use, way);
    return true;
  }
  if (way.kind.truth) return TakeTruth(use.node.op_type, way);
  if (const std::optional<int64_t> constant = ComparedWith(use, way)) {
    way.kind.truth = true;
    way.kind.turned = !HoldsForOne(use, *constant);
    return true;
  }
  return TakeArithmetic(use, way);
}

// What some of the operators that keep values do to those beyond a bound.
void WayRules::Keep(const Use& use, ValuePath& way) {
  const std::string_view op = use.node.op_type;
  NodeAttributes attributes(model_, use.node);
  if (op == "Cast") ThroughCast(attributes.Int("to", 0), way);
  if (op == "CastLike") way.whole = false;
  if (way.kind.truth) return;
  if (op == "Abs") AddStep(Step::kMagnitude, 0, way);
  if (op == "Clip") AddClip(ClipOf(use, attributes), way);
  if (op == "Relu") AddClip({0, kAnything}, way);
  if ((op != "Max" && op != "Min") || use.graph.Inputs(use.node).size() != 2) return;
  const std::optional<int64_t> end = uses_.WholeNumber(InputOf(use, 1 - use.input));
  if (end) AddClip(op == "Max" ? Interval{*end, kAnything} : Interval{kLeast, *end}, way);
}

// An end that is not known leaves the values as they are.
Interval WayRules::ClipOf(const Use& use, NodeAttributes& attributes) {
  constexpr float kExact = 0x1p24F;
  const auto end = [&](std::string_view name, size_t input, int64_t open) {
    const OnnxAttribute* attribute = attributes.Find(name);
    if (attribute == nullptr) return uses_.WholeNumber(InputOf(use, input)).value_or(open);
    return std::fabs(attribute->f) < kExact ? static_cast<int64_t>(attribute->f) : open;
  };
  return {end("min", 1, kLeast), end("max", 2, kAnything)};
}

bool WayRules::TakeTruth(std::string_view op, ValuePath& way) {
  way.kind.turned |= op == "Not" || op == "Xor";
  return op == "Not" || op == "And" || op == "Or" || op == "Xor";
}

// 0 or 1, as masks are compared with.
std::optional<int64_t> WayRules::ComparedWith(const Use& use, const ValuePath& way) {
  const std::string_view op = use.node.op_type;
  const bool compares = op == "Equal" || op == "Greater" || op == "Less" ||
                        op == "GreaterOrEqual" || op == "LessOrEqual";
  const bool changed = std::any_of(way.steps.begin(), way.steps.end(), [](const ValueStep& step) {
    return step.kind != Step::kClip && step.kind != Step::kMagnitude;
  });
  if (!compares || !way.kind.integer || changed) return std::nullopt;
  const std::optional<int64_t> constant = uses_.WholeNumber(InputOf(use, 1 - use.input));
  return constant == 0 || constant == 1 ? constant : std::nullopt;
}

// What is added or taken away: constants, or the number of a Loop's round.
bool WayRules::TakeSum(const Use& use, ValuePath& way) {
  const std::string_view op = use.node.op_type;
  if ((op != "Add" && op != "Sub") || use.graph.Inputs(use.node).size() != 2) return false;
  const std::optional<Interval> other = uses_.NumbersIn(InputOf(use, 1 - use.input));
  if (!other) return false;
  if (op == "Add") {
    AddSum(*other, way);
    return true;
  }
  if (use.input == 0) {
    if (other->low == kLeast) return false;
    AddSum({-other->high, -other->low}, way);
    return true;
  }
  AddStep(Step::kMultiply, -1, way);
  AddSum(*other, way);
  return true;
}

// With one constant. False for any other.
bool WayRules::TakeArithmetic(const Use& use, ValuePath& way) {
  const std::string_view op = use.node.op_type;
  const bool first = use.input == 0;
  if (op == "Neg") {
    AddStep(Step::kMultiply, -1, way);
    return true;
  }
  if (TakeSum(use, way)) return true;
  if (!ListHas(kComputing, op) || use.graph.Inputs(use.node).size() != 2) return false;
  const std::optional<int64_t> constant = uses_.WholeNumber(InputOf(use, 1 - use.input));
  if (!constant) return false;
  const int64_t by = *constant;
  if (op == "Mul" && by != 0) {
    AddStep(Step::kMultiply, by, way);
  } else if (op == "Div" && first && by != 0) {
    AddStep(way.whole ? Step::kDivideWhole : Step::kDivide, by, way);
  } else if (op == "Mod" && first && by > 0) {
    const bool signed_rest = NodeAttributes(model_, use.node).Int("fmod", 0) != 0;
    AddStep(signed_rest ? Step::kSignedRemainder : Step::kRemainder, by, way);
  } else {
    return false;
  }
  return true;
}

}  // namespace vernier
