#include "model/pairs/structural_pairs.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/onnx/onnx_order.h"

namespace vernier {
namespace {

// Two graphs with more pairs of nodes than this keep their names: the table takes one byte each.
constexpr size_t kMostCells = size_t{1} << 26;
// A constant is told from others of its shape by so many bytes of its front and its end.
constexpr size_t kTellingBytes = 64;

// What makes two nodes of one operator more alike.
constexpr uint32_t kAlike = 4;
constexpr uint32_t kSameConstants = 3;
constexpr uint32_t kSameAttributes = 1;
constexpr uint32_t kSameName = 1;

// Operators that hand on the values of their first input.
constexpr std::string_view kHandOn[] = {"Identity", "Cast", "Dropout"};

size_t Mix(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15U + (seed << 6U) + (seed >> 2U));
}

size_t Hash(std::string_view text) { return std::hash<std::string_view>{}(text); }

size_t ContentOf(const OnnxTensor& tensor) {
  const std::string_view bytes = tensor.raw_data.empty() ? tensor.bytes : tensor.raw_data;
  size_t hash = Mix(Hash(bytes.substr(0, kTellingBytes)), bytes.size());
  hash = Mix(hash, Hash(bytes.substr(bytes.size() - std::min(kTellingBytes, bytes.size()))));
  for (const int64_t dim : tensor.dims) hash = Mix(hash, static_cast<size_t>(dim));
  return Mix(hash, static_cast<size_t>(tensor.dtype));
}

size_t AttributesOf(const OnnxModel& model, const OnnxNode& node) {
  size_t sum = 0;  // in whatever order they are
  for (const OnnxAttribute& one : model.Attributes(node)) {
    size_t hash = Mix(Hash(one.name), static_cast<size_t>(one.i));
    hash = Mix(Mix(hash, Hash(one.s)), std::hash<float>{}(one.f));
    for (const int64_t i : one.ints) hash = Mix(hash, static_cast<size_t>(i));
    for (const float f : one.floats) hash = Mix(hash, std::hash<float>{}(f));
    if (one.tensor) hash = Mix(hash, ContentOf(*one.tensor));
    sum += hash;
  }
  return sum;
}

// A graph's nodes in order, and what its tensors are.
class Side {
 public:
  explicit Side(const OnnxModel& model) : graph_(model.graph()) {
    for (const OnnxTensor& one : graph_.initializers) constants_.emplace(one.name, ContentOf(one));
    for (const OnnxValue& output : graph_.outputs) outputs_.insert(output.name);
    const Result<std::vector<uint32_t>> order = TopologicalOrder(model);
    if (!order.ok()) return;
    for (const uint32_t index : *order) {
      const OnnxNode& node = graph_.nodes[index];
      const auto made = graph_.Outputs(node);
      const size_t attributes = AttributesOf(model, node);
      if (node.op_type == "Constant" && !made.empty()) {
        constants_.emplace(made[0], attributes);
        continue;
      }
      for (const std::string_view name : made) {
        if (!name.empty()) makers_.emplace(name, nodes_.size());
      }
      nodes_.push_back({&node, Mix(Hash(node.op_type), Hash(node.domain)), attributes});
    }
  }

  struct Step {
    const OnnxNode* node;
    size_t operation;  // what its operator is called
    size_t attributes;
  };
  const std::vector<Step>& nodes() const { return nodes_; }
  std::span<const std::string_view> Inputs(const Step& step) const {
    return graph_.Inputs(*step.node);
  }
  std::span<const std::string_view> Outputs(const Step& step) const {
    return graph_.Outputs(*step.node);
  }

  /// What a constant holds; nullopt: it is none.
  std::optional<size_t> Constant(std::string_view name) const {
    const auto found = constants_.find(name);
    return found == constants_.end() ? std::nullopt : std::optional(found->second);
  }

  const Step* Maker(std::string_view name) const {
    const auto found = makers_.find(name);
    return found == makers_.end() ? nullptr : &nodes_[found->second];
  }

  bool IsOutput(std::string_view name) const { return outputs_.contains(name); }

  /// The first tensor with these values.
  std::string_view Root(std::string_view name) const {
    for (const Step* maker = Maker(name); maker != nullptr; maker = Maker(name)) {
      const auto read = Inputs(*maker);
      const bool hands_on = std::ranges::find(kHandOn, maker->node->op_type) != std::end(kHandOn);
      if (!hands_on || read.empty() || Outputs(*maker)[0] != name) break;
      name = read[0];
    }
    return name;
  }

 private:
  const OnnxGraph& graph_;
  std::vector<Step> nodes_;
  std::unordered_map<std::string_view, size_t> makers_;
  std::unordered_map<std::string_view, size_t> constants_;
  std::unordered_set<std::string_view> outputs_;
};

class StructuralPairing {
 public:
  StructuralPairing(const OnnxModel& first, const OnnxModel& second)
      : first_(first), second_(second) {}

  StructuralPairs Find() const {
    const StructuralPairs by_name = ByName({});
    const size_t agreement = Agreement(by_name);
    if (agreement == second_.nodes().size()) return {};
    const StructuralPairs aligned = Align();
    const bool contradict = std::ranges::any_of(aligned, [&](const auto& pair) {
      const auto named = by_name.find(pair.first);
      return named != by_name.end() && first_.Root(named->second) != first_.Root(pair.second);
    });
    if (!contradict) return {};
    StructuralPairs by_structure = ByName(aligned);
    return Agreement(by_structure) > agreement ? by_structure : StructuralPairs();
  }

 private:
  using Step = Side::Step;

  // `known`, and of what is in none of those the tensors of one name; where some are known, those
  // of one operator.
  StructuralPairs ByName(const StructuralPairs& known) const {
    StructuralPairs pairs = known;
    std::unordered_set<std::string_view> taken;
    for (const auto& [theirs, ours] : known) taken.insert(ours);
    for (const Step& step : second_.nodes()) {
      for (const std::string_view name : second_.Outputs(step)) {
        const Step* const maker = name.empty() ? nullptr : first_.Maker(name);
        if (maker == nullptr || pairs.contains(name) || taken.contains(name)) continue;
        const bool one_operator = maker->operation == step.operation;
        if (known.empty() || one_operator || first_.IsOutput(name)) pairs.emplace(name, name);
      }
    }
    return pairs;
  }

  // How alike two nodes are; 0: not at all.
  uint32_t Likeness(const Step& ours, const Step& theirs) const {
    if (ours.operation != theirs.operation ||
        ours.node->output_count != theirs.node->output_count) {
      return 0;
    }
    const auto a = first_.Outputs(ours), b = second_.Outputs(theirs);
    const bool named = !a.empty() && a[0] == b[0];
    // Outputs of the graphs meet under their names.
    if (!named && !a.empty() && first_.Maker(b[0]) != nullptr && second_.Maker(a[0]) != nullptr &&
        (first_.IsOutput(a[0]) || second_.IsOutput(b[0]))) {
      return 0;
    }
    return kAlike + (HaveSameConstants(ours, theirs) ? kSameConstants : 0) +
           (ours.attributes == theirs.attributes ? kSameAttributes : 0) + (named ? kSameName : 0);
  }

  bool AreSameConstants(std::string_view ours, std::string_view theirs) const {
    const auto a = first_.Constant(ours), b = second_.Constant(theirs);
    return a.has_value() == b.has_value() && (!a || *a == *b || ours == theirs);
  }

  bool HaveSameConstants(const Step& ours, const Step& theirs) const {
    const auto a = first_.Inputs(ours), b = second_.Inputs(theirs);
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](auto x, auto y) {
             return AreSameConstants(x, y);
           });
  }

  // The alignment of the nodes that makes them most alike, in order.
  StructuralPairs Align() const {
    const std::vector<Step>&a = first_.nodes(), &b = second_.nodes();
    const size_t rows = a.size(), columns = b.size();
    if (rows == 0 || columns == 0 || rows > kMostCells / columns) return {};
    enum : uint8_t { kPair, kSkipFirst, kSkipSecond };
    std::vector<uint8_t> steps(rows * columns);
    std::vector<uint32_t> below(columns + 1, 0), row(columns + 1, 0);
    for (size_t i = rows; i-- > 0; below.swap(row)) {
      row[columns] = 0;
      for (size_t j = columns; j-- > 0;) {
        const uint32_t alike = Likeness(a[i], b[j]);
        const uint32_t paired = alike == 0 ? 0 : alike + below[j + 1];
        row[j] = std::max({paired, below[j], row[j + 1]});
        steps[i * columns + j] = alike != 0 && row[j] == paired ? kPair
                                 : row[j] == below[j]           ? kSkipFirst
                                                                : kSkipSecond;
      }
    }
    StructuralPairs pairs;
    for (size_t i = 0, j = 0; i < rows && j < columns;) {
      const uint8_t step = steps[i * columns + j];
      if (step == kPair) AddOutputs(a[i], b[j], pairs);
      i += step != kSkipSecond ? 1 : 0;
      j += step != kSkipFirst ? 1 : 0;
    }
    return pairs;
  }

  void AddOutputs(const Step& ours, const Step& theirs, StructuralPairs& pairs) const {
    const auto a = first_.Outputs(ours), b = second_.Outputs(theirs);
    for (size_t k = 0; k < a.size(); ++k) {
      if (!a[k].empty() && !b[k].empty()) pairs.emplace(b[k], a[k]);
    }
  }

  // So many of the second graph's nodes do what the makers of their partners do.
  size_t Agreement(const StructuralPairs& pairs) const {
    std::unordered_map<std::string_view, std::string_view> roots;
    for (const auto& [theirs, ours] : pairs) roots.emplace(second_.Root(theirs), first_.Root(ours));
    return static_cast<size_t>(std::ranges::count_if(second_.nodes(), [&](const Step& step) {
      const auto made = second_.Outputs(step);
      const auto pair = made.empty() ? pairs.end() : pairs.find(made[0]);
      const Step* const maker = pair == pairs.end() ? nullptr : first_.Maker(pair->second);
      return maker != nullptr && maker->operation == step.operation &&
             ReadTheSame(*maker, step, pairs, roots);
    }));
  }

  bool ReadTheSame(const Step& ours, const Step& theirs, const StructuralPairs& pairs,
                   const StructuralPairs& roots) const {
    const auto a = first_.Inputs(ours), b = second_.Inputs(theirs);
    const auto belong = [&](std::string_view x, std::string_view y) {
      if (!AreSameConstants(x, y)) return false;
      if (first_.Constant(x)) return true;
      const std::string_view x_root = first_.Root(x), y_root = second_.Root(y);
      const auto pair = pairs.find(y);
      if (pair != pairs.end() && first_.Root(pair->second) == x_root) return true;
      if (second_.Maker(y_root) == nullptr) return x_root == y_root;
      const auto root = roots.find(y_root);
      return root != roots.end() && root->second == x_root;
    };
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), belong);
  }

  const Side first_, second_;
};

}  // namespace

StructuralPairs PairByStructure(const OnnxModel& first, const OnnxModel& second) {
  return StructuralPairing(first, second).Find();
}

}  // namespace vernier
