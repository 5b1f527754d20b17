#include "model/input_ranges.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "io/tensor_proto.h"
#include "model/onnx_attributes.h"
#include "model/onnx_order.h"
#include "util/number_text.h"

namespace vernier {
namespace {

constexpr int64_t kAnything = std::numeric_limits<int64_t>::max();
// Sizes, counts and divisors that are legal, and small enough to be computed with.
constexpr int64_t kSmallCount = 4;
constexpr int64_t kSmallDivisor = 16;
// A way through a graph is not followed further than this.
constexpr size_t kLongestWay = 64;

struct Use {
  const OnnxGraph& graph;
  const OnnxNode& node;
  size_t input;
};

// What a use allows: [low, high], or nothing that could be drawn.
struct Allowed {
  int64_t low = 0, high = kAnything;
  std::string what;      // completes "<what> of Gather 'emb'"
  bool possible = true;  // false: `what` says why not
};

// An input's value on its way: times `scale` (never 0) and with `shift` added, and possibly turned
// into another kind.
struct Way {
  std::string_view name;
  int64_t scale = 1;
  int64_t shift = 0;
  bool integer = false;  // the input is an integer, or became one
  bool mask = false;     // it went through a cast to bool
  bool truth = false;    // it is a truth value: the input is one, or it was compared with 0 or 1
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

std::string Sized(std::string_view name, int64_t size) {
  return " into " + QuotePython(name) + " of size " + std::to_string(size);
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
      Follow({.name = input.name, .integer = integer, .truth = truth});
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
      if (std::optional<Allowed> allowed = Judge(use, way)) {
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
    if (way.truth) {
      if (op == "Not" || op == "And" || op == "Or" || op == "Xor") Further(use, way);
      return;
    }
    if (IsCompared(use, way)) {
      way.truth = true;
      return Further(use, way);
    }
    if (ThroughArithmetic(use, way)) Further(use, way);
  }

  // With 0 or 1, as masks are.
  bool IsCompared(const Use& use, const Way& way) {
    const std::string_view op = use.node.op_type;
    const bool compares = op == "Equal" || op == "Greater" || op == "Less" ||
                          op == "GreaterOrEqual" || op == "LessOrEqual";
    if (!compares || !way.integer || way.scale != 1 || way.shift != 0) return false;
    const std::optional<std::vector<int64_t>> constant = shapes_.Ints(NameOf(use, 1 - use.input));
    return constant && constant->size() == 1 && (constant->front() == 0 || constant->front() == 1);
  }

  // Adding a constant, taking from it or from one, times one. False for anything else.
  bool ThroughArithmetic(const Use& use, Way& way) {
    const std::string_view op = use.node.op_type;
    if (op == "Neg") return ScaleAndShift(-1, 0, way);
    if (op != "Add" && op != "Sub" && op != "Mul") return false;
    if (use.graph.Inputs(use.node).size() != 2) return false;
    const std::optional<std::vector<int64_t>> constant = shapes_.Ints(NameOf(use, 1 - use.input));
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
    if (kind == DTypeKind::kSignedInt || kind == DTypeKind::kUnsignedInt) way.integer = true;
    if (kind == DTypeKind::kBool) way.mask = true;
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

  std::optional<Allowed> Judge(const Use& use, const Way& way) {
    if (way.truth) return Truth(use);
    // A mask of truth values: whoever reads it.
    if (way.mask && way.integer) return Allowed{0, 1, "a mask", true};
    if (!way.integer) return std::nullopt;
    const std::string_view op = use.node.op_type;
    for (const auto rule : {&RangeFinder::Index, &RangeFinder::Length, &RangeFinder::Position,
                            &RangeFinder::Shape, &RangeFinder::Mask, &RangeFinder::Arithmetic}) {
      if (std::optional<Allowed> allowed = (this->*rule)(use, op)) return allowed;
    }
    return std::nullopt;
  }

  // Where truth values have a meaning. A Loop that is not entered would show nothing.
  static std::optional<Allowed> Truth(const Use& use) {
    const std::string_view op = use.node.op_type;
    if (op == "If" && use.input == 0) return Allowed{0, 1, "the branch", true};
    if (op == "Loop" && use.input == 1) return Allowed{1, 1, "the condition", true};
    const bool masks = (op == "Where" && use.input == 0) || (op == "Compress" && use.input == 1) ||
                       op.ends_with("Attention") || op == "Dropout";
    if (!masks) return std::nullopt;
    return Allowed{0, 1, op == "Dropout" ? "the mode" : "a mask", true};
  }

  std::string_view NameOf(const Use& use, size_t input) const {
    const auto inputs = use.graph.Inputs(use.node);
    return input < inputs.size() ? inputs[input] : std::string_view();
  }

  // The size of an input along an axis; nullopt while unknown.
  std::optional<int64_t> SizeOf(std::string_view name, int64_t axis) const {
    const Dims* dims = shapes_.Find(name);
    if (dims == nullptr) return std::nullopt;
    if (axis < 0) axis += static_cast<int64_t>(dims->size());
    if (axis < 0 || axis >= static_cast<int64_t>(dims->size())) return std::nullopt;
    return (*dims)[static_cast<size_t>(axis)];
  }

  Allowed IndexInto(std::string_view name, std::optional<int64_t> size, std::string what) const {
    if (!size || *size < 1) {
      return {0, 0, std::move(what) + " into " + QuotePython(name) + ", whose size is not known,",
              true};
    }
    return {0, *size - 1, std::move(what) + Sized(name, *size), true};
  }

  // Which input are indices into the rows of which; the types of other inputs tell versions apart.
  struct TableLookup {
    std::string_view op;
    size_t indices, table;
    std::string_view what;
  };
  static constexpr TableLookup kLookups[] = {
      {"EmbedLayerNormalization", 0, 2, "token ids"},
      {"EmbedLayerNormalization", 1, 4, "segment ids"},
      {"EmbedLayerNormalization", 8, 3, "position ids"},
      {"RotaryEmbedding", 1, 2, "position ids"},  // com.microsoft's
      {"RotaryEmbedding", 3, 1, "position ids"},  // ONNX's
      {"GatherBlockQuantized", 1, 0, "indices"},
  };

  std::optional<Allowed> Index(const Use& use, std::string_view op) {
    NodeAttributes attributes(model_, use.node);
    const bool gathers = op == "Gather" || op == "GatherElements" || op == "ScatterElements";
    if (gathers && use.input == 1) {
      const std::string_view data = NameOf(use, 0);
      return IndexInto(data, SizeOf(data, attributes.Int("axis", 0)), "indices");
    }
    if ((op == "GatherND" || op == "ScatterND") && use.input == 1) return TupleIndex(use);
    if (op == "OneHot" && use.input == 0) {
      const auto depth = shapes_.Ints(NameOf(use, 1));
      const bool known = depth && depth->size() == 1;
      return IndexInto(NameOf(use, 1), known ? std::optional(depth->front()) : std::nullopt,
                       "classes");
    }
    if (op == "OneHot" && use.input == 1) return Allowed{1, kSmallCount, "the depth", true};
    if (op == "RoiAlign" && use.input == 2) {
      return IndexInto(NameOf(use, 0), SizeOf(NameOf(use, 0), 0), "batch indices");
    }
    for (const TableLookup& lookup : kLookups) {
      if (op != lookup.op || use.input != lookup.indices) continue;
      const std::string_view table = NameOf(use, lookup.table);
      return IndexInto(table, SizeOf(table, 0), std::string(lookup.what));
    }
    return std::nullopt;
  }

  // Tuples of indices share one tensor: the smallest dimension that they select from.
  std::optional<Allowed> TupleIndex(const Use& use) const {
    const std::string_view data = NameOf(use, 0);
    const Dims* dims = shapes_.Find(data);
    const Dims* indices = shapes_.Find(NameOf(use, 1));
    std::optional<int64_t> least;
    if (dims != nullptr && !dims->empty()) {
      const bool known = indices != nullptr && !indices->empty() && indices->back() > 0;
      const size_t count =
          known ? std::min(dims->size(), static_cast<size_t>(indices->back())) : dims->size();
      least = *std::min_element(dims->begin(), dims->begin() + static_cast<ptrdiff_t>(count));
    }
    return IndexInto(data, least, "indices");
  }

  std::optional<Allowed> Length(const Use& use, std::string_view op) {
    const bool recurrent = op == "LSTM" || op == "GRU" || op == "RNN";
    if (recurrent && use.input == 4) {
      return Allowed{1, SizeOf(NameOf(use, 0), 0).value_or(1), "sequence lengths", true};
    }
    if (op == "ReverseSequence" && use.input == 1) {
      NodeAttributes attributes(model_, use.node);
      const int64_t axis = attributes.Int("time_axis", 0);
      return Allowed{1, SizeOf(NameOf(use, 0), axis).value_or(1), "sequence lengths", true};
    }
    if (op == "TopK" && use.input == 1) {
      NodeAttributes attributes(model_, use.node);
      const int64_t size = SizeOf(NameOf(use, 0), attributes.Int("axis", -1)).value_or(1);
      return Allowed{1, std::max<int64_t>(size, 1), "the count", true};
    }
    if (op == "Loop" && use.input == 0)
      return Allowed{1, kSmallCount, "the number of rounds", true};
    if (op == "NonMaxSuppression" && use.input == 2) {
      return Allowed{1, kSmallCount, "the number of boxes", true};
    }
    return std::nullopt;
  }

  std::optional<Allowed> Position(const Use& use, std::string_view op) {
    if (op == "Slice" && use.input > 0) return Bounds(use);
    if (op == "Trilu" && use.input == 1) return Allowed{-1, 1, "the diagonal", true};
    const bool axes = op == "Squeeze" || op == "Unsqueeze" || op == "CumSum" || op == "CumProd" ||
                      op.starts_with("Reduce");
    if (axes && use.input == 1) return Axes(use, "axes");
    if (op == "SequenceAt" && use.input == 1) return Allowed{0, 0, "a position", true};
    return std::nullopt;
  }

  // One axis, or as many as must differ.
  Allowed Axes(const Use& use, const std::string& what) const {
    const Dims* const dims = shapes_.Find(NameOf(use, use.input));
    if (dims == nullptr || ElementCount(*dims).value_or(0) <= 1) return {0, 0, what, true};
    return {0, 0, what + " that must differ: load them with --load-inputs, those", false};
  }

  // Starts lie before the middle and ends behind it, so that something is left.
  std::optional<Allowed> Bounds(const Use& use) const {
    constexpr size_t kStarts = 1, kEnds = 2, kAxes = 3, kSteps = 4;
    if (use.input == kAxes) return Axes(use, "axes");
    if (use.input == kSteps) return Allowed{1, 1, "steps", true};
    const std::string_view data = NameOf(use, 0);
    const Dims* dims = shapes_.Find(data);
    const auto axes = shapes_.Ints(NameOf(use, kAxes));
    int64_t least = 1;
    if (dims != nullptr && !dims->empty()) {
      least = *std::min_element(dims->begin(), dims->end());
      if (axes && axes->size() == 1) least = SizeOf(data, axes->front()).value_or(least);
    }
    const int64_t middle = std::max<int64_t>(least, 1) / 2;
    if (use.input == kStarts) return Allowed{0, middle, "starts" + Sized(data, least), true};
    if (use.input != kEnds) return std::nullopt;
    return Allowed{middle + 1, std::max<int64_t>(least, middle + 1), "ends" + Sized(data, least),
                   true};
  }

  std::optional<Allowed> Shape(const Use& use, std::string_view op) {
    if (op == "ConstantOfShape" && use.input == 0) return Allowed{1, kSmallCount, "sizes", true};
    if (op == "Expand" && use.input == 1) return Allowed{1, 1, "sizes", true};
    if (op == "Tile" && use.input == 1) return Allowed{1, 2, "repeats", true};
    if (op == "Range" && use.input == 0) return Allowed{0, 0, "the start", true};
    if (op == "Range" && use.input == 1) return Allowed{1, kSmallCount, "the limit", true};
    if (op == "Range" && use.input == 2) return Allowed{1, 1, "the step", true};
    if (op == "Pad" && use.input == 1) return Paddings(use);
    if (op == "Reshape" && use.input == 1) {
      const Dims* dims = shapes_.Find(NameOf(use, 1));
      if (dims != nullptr && *dims == Dims{1}) return Allowed{-1, -1, "the shape", true};
      if (CopiesEverySize(use)) return Allowed{0, 0, "the shape, each size as it was,", true};
      return Allowed{0, 0, "a shape whose product is given: load it with --load-inputs, the target",
                     false};
    }
    constexpr std::pair<std::string_view, size_t> kSizes[] = {
        {"Split", 1},     {"Resize", 3}, {"AffineGrid", 1},      {"Col2Im", 1},       {"Col2Im", 2},
        {"MaxUnpool", 2}, {"STFT", 1},   {"SplitToSequence", 1}, {"CenterCropPad", 1}};
    if (std::find(std::begin(kSizes), std::end(kSizes), std::pair(op, use.input)) ==
        std::end(kSizes)) {
      return std::nullopt;
    }
    return Allowed{0, 0, "sizes that depend on each other: load them with --load-inputs, those",
                   false};
  }

  // Reflections need as many elements beside the first.
  Allowed Paddings(const Use& use) {
    const std::string_view mode = NodeAttributes(model_, use.node).Text("mode");
    const Dims* const dims = shapes_.Find(NameOf(use, 0));
    const bool narrow =
        dims == nullptr || dims->empty() || *std::min_element(dims->begin(), dims->end()) < 2;
    return {0, mode == "reflect" && narrow ? 0 : 1, "paddings", true};
  }

  // Whether a target of zeros gives a Reshape the shape that it has.
  bool CopiesEverySize(const Use& use) {
    const Dims* data = shapes_.Find(NameOf(use, 0));
    const Dims* target = shapes_.Find(NameOf(use, 1));
    const bool alike = data != nullptr && target != nullptr && target->size() == 1 &&
                       target->front() == static_cast<int64_t>(data->size());
    return alike && NodeAttributes(model_, use.node).Int("allowzero", 0) == 0;
  }

  // Which input of com.microsoft's attention says what may be seen: lengths of the rows, or a mask.
  struct MaskInput {
    std::string_view op;
    size_t mask, data;
  };
  static constexpr MaskInput kMasks[] = {{"Attention", 3, 0},
                                         {"QAttention", 5, 0},
                                         {"MultiHeadAttention", 4, 1},
                                         {"EmbedLayerNormalization", 7, 0}};

  std::optional<Allowed> Mask(const Use& use, std::string_view op) {
    if (use.node.domain != "com.microsoft") return std::nullopt;
    for (const MaskInput& row : kMasks) {
      if (op != row.op || use.input != row.mask) continue;
      const Dims* dims = shapes_.Find(NameOf(use, row.mask));
      if (dims == nullptr || dims->size() != 1) return Allowed{0, 1, "a mask", true};
      return Allowed{1, std::max<int64_t>(SizeOf(NameOf(use, row.data), 1).value_or(1), 1),
                     "lengths of the rows", true};
    }
    return std::nullopt;
  }

  std::optional<Allowed> Arithmetic(const Use& use, std::string_view op) {
    if ((op == "Div" || op == "Mod") && use.input == 1) {
      return Allowed{1, kSmallDivisor, "the divisor", true};
    }
    if (op == "BitShift" && use.input == 1) return Allowed{0, 7, "the distance", true};
    // 1 - mask, as attention masks are turned round.
    if (op != "Sub" || use.input != 1 || !IsOne(NameOf(use, 0))) return std::nullopt;
    return Allowed{0, 1, "a mask", true};
  }

  // A constant that is 1 in any type.
  bool IsOne(std::string_view name) {
    if (const auto ints = shapes_.Ints(name)) return ints->size() == 1 && ints->front() == 1;
    if (constants_.empty() && ones_.empty()) CollectConstants();
    if (ones_.contains(name)) return true;
    const auto found = constants_.find(name);
    if (found == constants_.end() || found->second.external) return false;
    const std::string_view bytes = found->second.bytes;
    const Result<NamedTensor> parsed = ParseTensorProto(std::as_bytes(std::span(bytes)));
    if (!parsed.ok() || parsed->tensor.element_count() != 1) return false;
    if (parsed->tensor.dtype() == DType::kFloat32) return parsed->tensor.As<float>()[0] == 1.0F;
    return parsed->tensor.dtype() == DType::kFloat16 && parsed->tensor.As<uint16_t>()[0] == 0x3C00;
  }

  void CollectConstants() {
    for (const OnnxTensor& tensor : model_.graph().initializers) constants_[tensor.name] = tensor;
    for (const OnnxNode& node : model_.graph().nodes) {
      const auto outputs = model_.graph().Outputs(node);
      if (node.op_type != "Constant" || outputs.empty()) continue;
      NodeAttributes attributes(model_, node);
      const OnnxAttribute* value = attributes.Find("value");
      if (value != nullptr && value->tensor) constants_[outputs[0]] = *value->tensor;
      const OnnxAttribute* number = attributes.Find("value_float");
      if (number != nullptr && number->f == 1.0F) ones_.insert(outputs[0]);
    }
  }

  const OnnxModel& model_;
  ShapeTracker shapes_;
  std::unordered_map<std::string_view, std::vector<Use>> uses_;
  // What is called otherwise inside of a body, or outside of it.
  std::unordered_map<std::string_view, std::vector<std::string_view>> continues_;
  std::unordered_map<std::string_view, OnnxTensor> constants_;
  std::unordered_set<std::string_view> ones_;  // constants that no tensor says
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
