#include "model/ranges/input_ranges.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/onnx/flat_graph.h"
#include "model/ranges/allowed_values.h"
#include "model/ranges/range_inversion.h"
#include "model/ranges/value_path.h"
#include "model/shapes/dims_of_part.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// A way through a graph is not followed further than this.
constexpr size_t kLongestWay = 64;
// A value that was reached in several ways is followed after so many of them.
constexpr size_t kMostWays = 4;

// "Gather 'emb'".
std::string TitleOf(const OnnxNode& node) {
  const std::string op(node.op_type);
  return node.name.empty() ? op : op + " " + QuotePython(node.name);
}

// What the uses of an input leave of its values.
struct Left {
  Interval range;
  std::vector<std::string> uses;

  bool Allows(Interval by) const { return by.low <= range.high && by.high >= range.low; }

  void Narrow(Interval by, const std::string& use) {
    if (by.low <= range.low && by.high >= range.high) return;  // no news
    range = {std::max(range.low, by.low), std::min(range.high, by.high)};
    // One use narrows again where its value was reached in several ways.
    if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
  }

  std::string Reason() const {
    std::string reason;
    for (const std::string& use : uses) reason += (reason.empty() ? "" : "; ") + use;
    return reason;
  }
};

class RangeFinder {
 public:
  RangeFinder(const OnnxModel& model, std::span<const InputDims> sizes)
      : model_(model), flat_(model), shapes_(model, sizes) {
    const OnnxGraph& graph = flat_.graph();
    shapes_.Declare(graph);
    for (const OnnxNode& node : graph.nodes) {
      shapes_.Visit(graph, node);
      if (const auto outputs = graph.Outputs(node); !outputs.empty()) {
        shapes_.Assume(outputs[0], DimsOfPart(model, graph, node, shapes_));
      }
      const auto inputs = graph.Inputs(node);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].empty()) uses_[inputs[i]].push_back({graph, node, i});
      }
    }
  }

  GraphRanges Find() {
    GraphRanges found;
    std::unordered_set<std::string_view> constants;
    for (const OnnxTensor& tensor : model_.graph().initializers) constants.insert(tensor.name);
    for (const OnnxValue& input : model_.graph().inputs) {
      const bool integer = IsIntegral(input.dtype);
      const bool truth = input.dtype == DType::kBool;
      if (constants.contains(input.name)) continue;
      if (!integer && !truth && Kind(input.dtype) != DTypeKind::kFloat) continue;
      legal_ = {};
      telling_ = {};
      impossible_.clear();
      lost_.clear();
      seen_.clear();
      seen_lost_.clear();
      Follow({.name = input.name,
              .steps = {},
              .kind = {.integer = integer, .truth = truth},
              .whole = integer});
      Conclude(input, found);
    }
    return found;
  }

 private:
  void Conclude(const OnnxValue& input, GraphRanges& found) {
    const std::string name(input.name);
    if (!impossible_.empty()) return found.unranged.push_back({name, impossible_});
    if (!lost_.empty()) found.lost.push_back({name, lost_});
    // Where every value is legal, those that reach everything are worth drawing.
    const Left& left = legal_.uses.empty() ? telling_ : legal_;
    if (left.uses.empty()) return;
    const Interval& range = left.range;
    const std::string reason = left.Reason();
    if (range.low > range.high) {
      return found.unranged.push_back({name, "uses exclude each other: " + reason});
    }
    const auto [least, most] = Limits(input.dtype);
    const int64_t low = std::max(range.low, least), high = std::min(range.high, most);
    if (low > high) {
      return found.unranged.push_back(
          {name, "no " + std::string(DTypeName(input.dtype)) + " is legal as " + reason});
    }
    found.ranges.push_back({name, low, high, reason});
  }

  // What integers of a type hold; anything else holds all that ranges are made of.
  static std::pair<int64_t, int64_t> Limits(DType dtype) {
    const DTypeKind kind = Kind(dtype);
    const bool is_unsigned = kind == DTypeKind::kUnsignedInt;
    const int bits = BitsOf(dtype);
    if (kind == DTypeKind::kFloat || bits >= 64) return {is_unsigned ? 0 : kLeast, kAnything};
    const int64_t most = (int64_t{1} << (bits - (is_unsigned ? 0 : 1))) - 1;
    return {is_unsigned ? 0 : -most - 1, most};
  }

  void Follow(const ValuePath& way) {
    if (way.length > kLongestWay) return Lose(way.name, "a long way");
    std::vector<ValuePath>& ways = seen_[way.name];
    const auto alike = [&](const ValuePath& other) {
      return other.steps == way.steps && other.kind == way.kind;
    };
    if (std::any_of(ways.begin(), ways.end(), alike)) return;
    if (ways.size() == kMostWays) return Lose(way.name, "many ways");
    ways.push_back(way);
    if (way.kind.integer) FollowCounters(way);
    for (const std::string_view name : flat_.Continuing(way.name)) FollowAs(name, way);
    const auto found = uses_.find(way.name);
    if (found == uses_.end()) return;
    for (const Use& use : found->second) {
      if (IsForeign(use.node)) {
        if (way.kind.integer && lost_.empty()) {
          lost_ = "goes into " + TitleOf(use.node) + ", which is not looked into";
        }
      } else if (std::optional<Allowed> allowed = rules_.Judge(use, way.kind)) {
        Narrow(use, way, *allowed);
      } else {
        GoOn(use, way);
      }
    }
  }

  void FollowCounters(ValuePath way) {
    way.steps.push_back({.kind = ValueStep::Kind::kCount, .by = 0, .range = {}});
    way.kind.counts = true;
    for (const std::string_view name : flat_.Counters(way.name)) FollowAs(name, way);
  }

  void FollowAs(std::string_view name, ValuePath way) {
    way.name = name;
    ++way.length;
    Follow(way);
  }

  void Narrow(const Use& use, const ValuePath& way, const Allowed& allowed) {
    std::string text = allowed.what + " of " + TitleOf(use.node);
    const std::optional<StepOrigin> origin =
        allowed.possible ? OriginOf(way.steps, {allowed.low, allowed.high}) : std::nullopt;
    if (!origin && way.kind.counts) {
      if (lost_.empty()) lost_ = "reaches " + text + " as the number of rounds";
      return;
    }
    if (!origin && allowed.possible && allowed.free) return;
    if (!origin) {
      if (impossible_.empty()) impossible_ = std::move(text);
      return;
    }
    if (!origin->free && !allowed.free) {
      legal_.Narrow(origin->values, text);
    } else if (telling_.Allows(origin->values)) {
      telling_.Narrow(origin->values, text);
    }
  }

  void GoOn(const Use& use, ValuePath way) {
    if (ways_.Take(use, way)) return Further(use, way);
    if (!WayRules::PassesOn(use)) return;
    for (const std::string_view output : use.graph.Outputs(use.node)) {
      Lose(output, TitleOf(use.node));
    }
  }

  void Further(const Use& use, const ValuePath& way) {
    for (const std::string_view output : use.graph.Outputs(use.node)) {
      if (output.empty()) continue;
      ValuePath next = way;
      next.name = output;
      next.length = way.length + 1;
      Follow(next);
    }
  }

  // Goes on from a value of which no more is known than that it depends on the input, to the first
  // place where not all values are legal.
  void Lose(std::string_view from, const std::string& through) {
    std::vector<std::string_view> waiting = {from};
    while (!waiting.empty() && lost_.empty()) {
      const std::string_view name = waiting.back();
      waiting.pop_back();
      if (name.empty() || !seen_lost_.insert(name).second) continue;
      const std::vector<std::string_view>& next = flat_.Continuing(name);
      waiting.insert(waiting.end(), next.begin(), next.end());
      const auto found = uses_.find(name);
      if (found == uses_.end()) continue;
      for (const Use& use : found->second) {
        if (IsForeign(use.node)) continue;
        if (const std::optional<Allowed> allowed = rules_.JudgePlace(use)) {
          lost_ = "reaches " + allowed->what + " of " + TitleOf(use.node) + " through " + through;
          return;
        }
        if (!WayRules::PassesOn(use)) continue;
        const auto outputs = use.graph.Outputs(use.node);
        waiting.insert(waiting.end(), outputs.begin(), outputs.end());
      }
    }
  }

  const OnnxModel& model_;
  const FlatGraph flat_;
  ShapeTracker shapes_;
  UseRules rules_{model_, flat_, shapes_};
  WayRules ways_{model_, rules_};
  std::unordered_map<std::string_view, std::vector<Use>> uses_;
  // Of the input that is looked at.
  Left legal_;
  Left telling_;  // where every value is legal: those that reach everything are worth drawing
  std::string impossible_, lost_;
  std::unordered_map<std::string_view, std::vector<ValuePath>> seen_;
  std::unordered_set<std::string_view> seen_lost_;
};

}  // namespace

GraphRanges FindInputRanges(const OnnxModel& model, std::span<const InputDims> sizes) {
  return RangeFinder(model, sizes).Find();
}

}  // namespace vernier
