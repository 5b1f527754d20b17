#include "model/shapes/size_numbers.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

using SizeNumbers = std::optional<std::vector<int64_t>>;

// Products of two such numbers do not overflow.
constexpr int64_t kLargestSizeNumber = int64_t{1} << 31;
constexpr size_t kMostSizeNumbers = 64;

// A node, and the integers that go in.
struct NumberStep {
  const OnnxGraph& graph;
  const OnnxNode& node;
  const ShapeTracker& shapes;
  NodeAttributes attributes;

  bool Has(size_t input) const {
    const auto names = graph.Inputs(node);
    return input < names.size() && !names[input].empty();
  }
  SizeNumbers Input(size_t input) const {
    return Has(input) ? shapes.Ints(graph.Inputs(node)[input]) : std::nullopt;
  }
  const Dims* DimsOf(size_t input) const {
    return Has(input) ? shapes.Find(graph.Inputs(node)[input]) : nullptr;
  }
};

// `place` in a list of that length, as Python counts.
int64_t PlaceFromStart(int64_t place, int64_t length) {
  return std::clamp<int64_t>(place < 0 ? place + length : place, 0, length);
}

SizeNumbers ShapeNumbers(NumberStep& step) {
  const Dims* const dims = step.DimsOf(0);
  if (dims == nullptr) return std::nullopt;
  const auto rank = static_cast<int64_t>(dims->size());
  const int64_t start = PlaceFromStart(step.attributes.Int("start", 0), rank);
  const int64_t end = PlaceFromStart(step.attributes.Int("end", rank), rank);
  return std::vector<int64_t>(dims->begin() + start, dims->begin() + std::max(start, end));
}

SizeNumbers ElementNumber(NumberStep& step) {
  const Dims* const dims = step.DimsOf(0);
  const std::optional<int64_t> count = dims == nullptr ? std::nullopt : ElementCount(*dims);
  return count ? SizeNumbers(std::vector<int64_t>{*count}) : std::nullopt;
}

SizeNumbers UnchangedNumbers(NumberStep& step) { return step.Input(0); }

SizeNumbers TakenNumbers(NumberStep& step) {
  const SizeNumbers data = step.Input(0), places = step.Input(1);
  if (!data || !places || step.attributes.Int("axis", 0) != 0) return std::nullopt;
  const auto length = static_cast<int64_t>(data->size());
  std::vector<int64_t> taken;
  for (int64_t place : *places) {
    place += place < 0 ? length : 0;
    if (place < 0 || place >= length) return std::nullopt;
    taken.push_back((*data)[static_cast<size_t>(place)]);
  }
  return taken;
}

// Of lists, with steps of 1.
SizeNumbers SlicedNumbers(NumberStep& step) {
  const SizeNumbers data = step.Input(0), starts = step.Input(1), ends = step.Input(2);
  const SizeNumbers steps = step.Has(4) ? step.Input(4) : SizeNumbers(std::vector<int64_t>{1});
  if (!data || !starts || !ends || !steps || *steps != std::vector<int64_t>{1}) return std::nullopt;
  if (starts->size() != 1 || ends->size() != 1) return std::nullopt;
  const auto length = static_cast<int64_t>(data->size());
  const int64_t start = PlaceFromStart(starts->front(), length);
  const int64_t end = std::max(start, PlaceFromStart(ends->front(), length));
  return std::vector<int64_t>(data->begin() + start, data->begin() + end);
}

SizeNumbers TogetherNumbers(NumberStep& step) {
  std::vector<int64_t> all;
  for (size_t i = 0; i < step.graph.Inputs(step.node).size(); ++i) {
    const SizeNumbers more = step.Input(i);
    if (!more) return std::nullopt;
    all.insert(all.end(), more->begin(), more->end());
  }
  return all;
}

std::optional<int64_t> ComputedSize(std::string_view op, int64_t a, int64_t b) {
  const auto fits = [](int64_t n) { return n >= -kLargestSizeNumber && n <= kLargestSizeNumber; };
  if (!fits(a) || !fits(b)) return std::nullopt;
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  return b == 0 ? std::nullopt : std::optional(a / b);
}

SizeNumbers ArithmeticNumbers(NumberStep& step) {
  const SizeNumbers a = step.Input(0), b = step.Input(1);
  if (!a || !b || a->empty() || b->empty()) return std::nullopt;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return std::nullopt;
  std::vector<int64_t> result;
  for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const auto one =
        ComputedSize(step.node.op_type, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!one) return std::nullopt;
    result.push_back(*one);
  }
  return result;
}

struct NumberRule {
  std::string_view op_type;
  SizeNumbers (*rule)(NumberStep& step);
};

constexpr NumberRule kNumberRules[] = {
    {"Shape", &ShapeNumbers},       {"Size", &ElementNumber},
    {"Cast", &UnchangedNumbers},    {"Identity", &UnchangedNumbers},
    {"Squeeze", &UnchangedNumbers}, {"Unsqueeze", &UnchangedNumbers},
    {"Gather", &TakenNumbers},      {"Slice", &SlicedNumbers},
    {"Concat", &TogetherNumbers},   {"Add", &ArithmeticNumbers},
    {"Sub", &ArithmeticNumbers},    {"Mul", &ArithmeticNumbers},
    {"Div", &ArithmeticNumbers},
};

}  // namespace

SizeNumbers NumbersOfSizes(const OnnxModel& model, const OnnxGraph& graph, const OnnxNode& node,
                           const ShapeTracker& shapes) {
  if (!node.domain.empty() && node.domain != "ai.onnx") return std::nullopt;
  const auto rule = std::ranges::find(kNumberRules, node.op_type, &NumberRule::op_type);
  if (rule == std::end(kNumberRules)) return std::nullopt;
  NumberStep step{graph, node, shapes, NodeAttributes(model, node)};
  SizeNumbers numbers = rule->rule(step);
  return numbers && numbers->size() <= kMostSizeNumbers ? numbers : std::nullopt;
}

}  // namespace vernier
