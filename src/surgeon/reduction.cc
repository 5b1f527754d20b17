#include "surgeon/reduction.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "model/edit/model_composer.h"
#include "model/edit/onnx_extract.h"
#include "model/onnx/initializer_names.h"
#include "model/onnx/onnx_order.h"
#include "surgeon/graph_parts.h"

namespace vernier {
namespace {

// The graph as numbers: who reads what whom makes.
struct Links {
  explicit Links(const OnnxModel& model)
      : before(model.graph().nodes.size()), after(model.graph().nodes.size()) {
    const OnnxGraph& graph = model.graph();
    std::unordered_map<std::string_view, uint32_t> producers;
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      for (const std::string_view name : graph.Outputs(graph.nodes[i])) {
        if (!name.empty()) producers.emplace(name, i);
      }
    }
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      for (const std::string_view name : ValuesReadBy(model, graph, graph.nodes[i])) {
        const auto producer = producers.find(name);
        if (producer == producers.end()) continue;
        before[i].push_back(producer->second);
        after[producer->second].push_back(i);
      }
    }
  }

  std::vector<NodeSet> before, after;
};

// With all that can be reached over the links.
NodeSet Closed(const NodeSet& nodes, const std::vector<NodeSet>& links) {
  std::vector<bool> in(links.size(), false);
  NodeSet open = nodes;
  while (!open.empty()) {
    const uint32_t node = open.back();
    open.pop_back();
    if (in[node]) continue;
    in[node] = true;
    open.insert(open.end(), links[node].begin(), links[node].end());
  }
  NodeSet closed;
  for (uint32_t i = 0; i < in.size(); ++i) {
    if (in[i]) closed.push_back(i);
  }
  return closed;
}

// How much a search may rest on what it did not ask: a window of one in so many is believed to be
// the only one that can fail, then it has to show it.
constexpr size_t kMostBelieved = 8;

class Reducer {
 public:
  Reducer(const OnnxModel& model, const ReductionOptions& options, const FirstOfSets& first)
      : options_(options), asked_(first), links_(model) {}

  Result<Reduction> Reduce(const NodeSet& order) {
    position_.resize(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
    best_ = order;
    if (options_.bisect && options_.reduce_inputs && options_.reduce_outputs) VERNIER_TRY(ZoomIn());
    if (options_.bisect && options_.reduce_outputs) VERNIER_TRY(Bisect(true));
    if (options_.bisect && options_.reduce_inputs) VERNIER_TRY(Bisect(false));
    VERNIER_TRY(RemoveChunks());
    Reduction reduction{best_, {}, asked_.answers().size()};
    ChooseGood(reduction);
    return reduction;
  }

 private:
  // With what belongs to the nodes by the options, in the order of the graph.
  NodeSet Completed(NodeSet nodes) const {
    if (!options_.reduce_inputs) nodes = Closed(nodes, links_.before);
    if (!options_.reduce_outputs) nodes = Closed(nodes, links_.after);
    std::sort(nodes.begin(), nodes.end(),
              [&](uint32_t a, uint32_t b) { return position_[a] < position_[b]; });
    return nodes;
  }

  // The first of the parts that fails, which becomes the best; parts that are not smaller than the
  // best do not count.
  Result<std::optional<size_t>> First(std::vector<NodeSet> parts) {
    std::vector<NodeSet> smaller;
    std::vector<size_t> places;
    for (size_t i = 0; i < parts.size(); ++i) {
      NodeSet part = Completed(std::move(parts[i]));
      if (part.empty() || part.size() >= best_.size()) continue;
      smaller.push_back(std::move(part));
      places.push_back(i);
    }
    VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> found, asked_.First(smaller));
    if (!found) return found;
    best_ = std::move(smaller[*found]);
    return std::optional(places[*found]);
  }

  // Faults are mostly in one place: looks for ever shorter windows of the order that fail by
  // themselves. Their models become small at once, and one search finds both ends.
  Status ZoomIn() {
    bool smaller = true;
    while (smaller && best_.size() > 1) {
      VERNIER_ASSIGN_OR_RETURN(smaller, FindWindow());
    }
    return {};
  }

  // Asks all pieces of the best part but the last. Where they pass it must be in the last one, if
  // it is in one place at all, so that one is cut up next. Whether some window was found to fail.
  Result<bool> FindWindow() {
    const NodeSet all = best_;
    size_t begin = 0;
    for (size_t believed = 1; all.size() - begin > 1 && believed < kMostBelieved;) {
      const size_t length = all.size() - begin, pieces = std::min(options_.width + 1, length);
      std::vector<NodeSet> parts;
      for (size_t i = 0; i + 1 < pieces; ++i) {
        parts.push_back(
            Window(all, begin + length * i / pieces, begin + length * (i + 1) / pieces));
      }
      VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> found, First(std::move(parts)));
      if (found) return true;
      begin += length * (pieces - 1) / pieces;
      believed *= pieces;
    }
    // It has to show now. If not, it may lie across a cut: all of them, with room before the first.
    const size_t before_cuts = all.size() * 3 / (4 * (options_.width + 1));
    VERNIER_ASSIGN_OR_RETURN(
        const std::optional<size_t> found,
        First({Window(all, begin, all.size()), Window(all, before_cuts, all.size())}));
    return found.has_value();
  }

  static NodeSet Window(const NodeSet& all, size_t begin, size_t end) {
    return NodeSet(all.begin() + static_cast<std::ptrdiff_t>(begin),
                   all.begin() + static_cast<std::ptrdiff_t>(end));
  }

  // Looks for the shortest beginning, or end, of the best part that fails.
  Status Bisect(bool beginning) {
    const NodeSet all = best_;
    size_t passes = 0, fails = all.size();  // lengths
    while (fails - passes > 1) {
      const size_t gap = fails - passes, count = std::min(options_.width, gap - 1);
      std::vector<size_t> lengths;
      std::vector<NodeSet> parts;
      for (size_t i = 1; i <= count; ++i) {
        lengths.push_back(passes + gap * i / (count + 1));
        const size_t length = lengths.back();
        // Of a beginning, only what leads to its end can matter.
        parts.push_back(beginning ? LeadingTo(Window(all, 0, length))
                                  : Window(all, all.size() - length, all.size()));
      }
      VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> found, First(std::move(parts)));
      fails = found ? lengths[*found] : fails;
      if (!found) passes = lengths.back();
      if (found && *found > 0) passes = lengths[*found - 1];
    }
    return {};
  }

  NodeSet LeadingTo(const NodeSet& part) const {
    const std::unordered_set<uint32_t> within(part.begin(), part.end());
    NodeSet leading = Closed({part.back()}, links_.before);
    std::erase_if(leading, [&](uint32_t node) { return !within.contains(node); });
    return leading;
  }

  // Delta debugging: drops ever smaller chunks as long as the rest fails.
  Status RemoveChunks() {
    size_t chunks = options_.bisect ? 2 : best_.size();
    while (best_.size() > 1) {
      chunks = std::min(chunks, best_.size());
      VERNIER_ASSIGN_OR_RETURN(const bool smaller, DropOneOf(chunks));
      if (smaller) {
        chunks = std::max<size_t>(chunks - 1, 2);
      } else if (chunks == best_.size()) {
        break;
      } else {
        chunks *= 2;
      }
    }
    return {};
  }

  Result<bool> DropOneOf(size_t chunks) {
    std::vector<NodeSet> parts;
    for (size_t chunk = chunks; chunk-- > 0;) {
      const size_t begin = best_.size() * chunk / chunks, end = best_.size() * (chunk + 1) / chunks;
      NodeSet& rest =
          parts.emplace_back(best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(begin));
      rest.insert(rest.end(), best_.begin() + static_cast<std::ptrdiff_t>(end), best_.end());
    }
    VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> found, First(std::move(parts)));
    return found.has_value();
  }

  void ChooseGood(Reduction& reduction) const {
    const size_t size = reduction.bad.size();
    for (const auto& [nodes, failed] : asked_.answers()) {
      if (failed) continue;
      const bool none = reduction.good.empty();
      const bool below = nodes.size() < size, had_below = !none && reduction.good.size() < size;
      const bool better = below ? !had_below || nodes.size() > reduction.good.size()
                                : !had_below && nodes.size() < reduction.good.size();
      if (none || better) reduction.good = nodes;
    }
  }

  const ReductionOptions& options_;
  AskedSets asked_;  // of sets in the order that follows
  const Links links_;
  NodeSet best_;
  std::vector<uint32_t> position_;  // of a node in the order
};

// Puts some nodes of a model into one of their own.
class PartMaker {
 public:
  PartMaker(const OnnxModel& model, std::span<const uint32_t> nodes)
      : model_(model),
        graph_(model.graph()),
        nodes_(nodes),
        constants_(InitializerNames(model.graph())) {
    const std::unordered_set<uint32_t> within(nodes.begin(), nodes.end());
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      const bool in = within.contains(i);
      for (const std::string_view name : ValuesReadBy(model, graph_, graph_.nodes[i])) {
        (in ? read_ : read_outside_).insert(name);
      }
      if (!in) continue;
      for (const std::string_view name : graph_.Outputs(graph_.nodes[i])) made_.insert(name);
    }
    for (const OnnxValue& output : graph_.outputs) outputs_.insert(output.name);
  }

  Result<OnnxModel> Make() {
    ModelComposer composer(model_);
    std::vector<std::string> inputs, outputs;
    std::unordered_set<std::string_view> seen;
    for (const uint32_t index : nodes_) {
      const OnnxNode& node = graph_.nodes[index];
      for (const std::string_view name : ValuesReadBy(model_, graph_, node)) {
        const bool given = !made_.contains(name) && !constants_.contains(name);
        if (given && seen.insert(name).second) inputs.emplace_back(name);
      }
      AddOutputsOf(node, outputs);
      composer.AddNode(graph_, node);
    }
    for (const TensorInfo& info : DescribeTensors(model_, inputs)) composer.AddInput(info);
    for (const TensorInfo& info : DescribeTensors(model_, outputs)) composer.AddOutput(info);
    const std::unordered_set<std::string_view> declared(outputs.begin(), outputs.end());
    for (const OnnxValue& value : graph_.value_info) {
      if (made_.contains(value.name) && !declared.contains(value.name)) {
        composer.AddValueInfo(value);
      }
    }
    VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, composer.Finish());
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ToBytes(pieces));
    return OwnModel({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, model_.path());
  }

 private:
  void AddOutputsOf(const OnnxNode& node, std::vector<std::string>& outputs) const {
    const auto results = graph_.Outputs(node);
    // An output that no node ever read is none, unless the node has no other. Neither is what the
    // part itself reads: the more outputs, the less can a framework fuse as it does in the model.
    const bool last = std::none_of(results.begin(), results.end(), [&](std::string_view name) {
      return read_.contains(name) || read_outside_.contains(name) || outputs_.contains(name);
    });
    for (const std::string_view name : results) {
      const bool end = read_outside_.contains(name) && !read_.contains(name);
      if (!name.empty() && (end || last || outputs_.contains(name))) outputs.emplace_back(name);
    }
  }

  const OnnxModel& model_;
  const OnnxGraph& graph_;
  std::span<const uint32_t> nodes_;
  const std::unordered_set<std::string_view> constants_;
  std::unordered_set<std::string_view> made_, read_, read_outside_, outputs_;
};

}  // namespace

Result<Reduction> ReduceNodes(const OnnxModel& model, const ReductionOptions& options,
                              const FirstOfSets& first) {
  VERNIER_ASSIGN_OR_RETURN(const NodeSet order, TopologicalOrder(model));
  return Reducer(model, options, first).Reduce(order);
}

Result<OnnxModel> PartOfNodes(const OnnxModel& model, std::span<const uint32_t> nodes) {
  return PartMaker(model, nodes).Make();
}

}  // namespace vernier
