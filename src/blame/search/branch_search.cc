#include "blame/search/branch_search.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_set>

#include "blame/judge/within_bounds.h"
#include "blame/search/body_feeds.h"
#include "blame/search/outer_tensors.h"
#include "model/edit/onnx_branch.h"
#include "model/onnx/onnx_order.h"
#include "util/atomic_file.h"
#include "util/scratch_folder.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// Where the search cannot tell what later rounds are fed with, or there are many, it looks at
// these.
constexpr size_t kMostRounds = 8;
constexpr std::string_view kBody = "body";

// Each takes as long as a model of its own, and without a culprit nothing says which to begin with.
constexpr size_t kMostBodiesWithinBounds = 4;

// How the inputs of a body that is cut out are declared.
enum class BodySizes { kAsFed, kFree };

class Search {
 public:
  /// `node` is one of the candidate's.
  Search(const BodySearchInput& input, int64_t iteration, uint32_t node)
      : input_(input), outer_(input, iteration), theirs_(node) {}

  Result<std::vector<BlameCulprit>> Run() {
    VERNIER_ASSIGN_OR_RETURN(ours_, FindOurs());
    VERNIER_ASSIGN_OR_RETURN(branch_, BodyOf(theirs_));
    VERNIER_TRY(FetchCaptures(input_.reference, ours_));
    VERNIER_TRY(FetchCaptures(input_.subject.graph(), theirs_));
    if (branch_ == kBody) VERNIER_TRY(StartRounds());
    Result<std::vector<BlameCulprit>> found = SearchBody(BodySizes::kAsFed);
    if (found.ok() || found.status().code() == StatusCode::kCancelled) return found;
    // Bodies within may not fit sizes that are known: see IslandBench.
    Result<std::vector<BlameCulprit>> again = SearchBody(BodySizes::kFree);
    return again.ok() ? again : found;
  }

  /// After Run: "in the body of 'loop' ...", the layer there that errs most; empty: none errs.
  const std::string& largest() const { return largest_; }

 private:
  Result<std::vector<BlameCulprit>> SearchBody(BodySizes sizes) {
    VERNIER_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Create());
    BlamePlan plan;
    plan.run = input_.subject.plan.run;
    plan.run.load_outputs.clear();
    plan.failed = input_.subject.plan.failed;
    plan.max_host_bytes = input_.subject.plan.max_host_bytes;
    plan.max_gpu_bytes = input_.subject.plan.max_gpu_bytes;
    RunnerPlan& reference = plan.run.runners[*input_.subject.sides.places.reference];
    ModelPlan& candidate = plan.run.runners[input_.subject.sides.places.candidate].model;
    plan.reference = reference.name;
    const TensorLookup lookup = LookupOf(sizes);
    VERNIER_TRY(Cut({input_.reference, ours_}, lookup, folder.path() + "/a.onnx", reference.model));
    VERNIER_TRY(
        Cut({input_.subject.graph(), theirs_}, lookup, folder.path() + "/b.onnx", candidate));
    plan.feeds = {inputs_};
    if (rounds_) VERNIER_TRY(AddRounds(reference, plan.feeds));
    for (TensorMap& feed : plan.feeds) feed = Read(std::move(feed));
    const BlameRecord found = input_.investigate(plan);
    // What was not looked at is not innocent.
    if (!found.error.empty()) return NotFound(found.error);
    const std::string where =
        "in the " + branch_ + " of '" + input_.subject.graph().NodeName(theirs_) + "'";
    largest_ = LargestOwnError(found.layers);
    if (!largest_.empty()) largest_ = where + " it is " + largest_;
    std::vector<BlameCulprit> culprits = found.culprits;
    for (BlameCulprit& culprit : culprits) {
      const bool deeper = culprit.why.starts_with("in the ");
      culprit.why = where + (deeper ? ", and there " : ": ") + culprit.why;
    }
    return culprits;
  }

  // The reference's node that makes what the candidate's makes.
  Result<uint32_t> FindOurs() const {
    const OnnxGraph& candidate = input_.subject.graph().graph();
    const OnnxGraph& reference = input_.reference.graph();
    const std::string_view op = candidate.nodes[theirs_].op_type;
    for (const std::string_view made : candidate.Outputs(candidate.nodes[theirs_])) {
      const std::string* paired = input_.source.pairs.Find(made);
      const std::string_view name = paired == nullptr ? made : std::string_view(*paired);
      for (const uint32_t node : input_.reference.order()) {
        const auto outputs = reference.Outputs(reference.nodes[node]);
        const bool makes = std::find(outputs.begin(), outputs.end(), name) != outputs.end();
        if (!name.empty() && makes && reference.nodes[node].op_type == op) return node;
      }
    }
    return NotFound("the reference has no " + std::string(op) + " that makes the same");
  }

  // The attribute that holds the body that was run.
  Result<std::string> BodyOf(uint32_t node) {
    const OnnxGraph& graph = input_.subject.graph().graph();
    if (graph.nodes[node].op_type != "If") return std::string(kBody);
    VERNIER_ASSIGN_OR_RETURN(const Tensor value, outer_.Fetch(graph.Inputs(graph.nodes[node])[0]));
    return Branch(value);
  }

  static Result<std::string> Branch(const Tensor& condition) {
    if (condition.dtype() != DType::kBool || condition.element_count() != 1) {
      return NotFound("no condition");
    }
    return std::string(condition.bytes()[0] != std::byte{0} ? "then_branch" : "else_branch");
  }

  TensorLookup LookupOf(BodySizes sizes) const {
    TensorLookup as_fed = [this](std::string_view wanted) {
      TensorInfo info;
      if (const Tensor* tensor = Find(inputs_, wanted)) {
        info.dtype = tensor->dtype();
        info.shape.emplace();
        for (const int64_t dim : tensor->dims()) info.shape->push_back({dim, {}});
      }
      return info;
    };
    return sizes == BodySizes::kFree ? WithFreeSizes(std::move(as_fed)) : as_fed;
  }

  struct NodeIn {
    const BlameGraph& graph;
    uint32_t node;
  };

  // What the body reads of the graph around it.
  static std::vector<std::string_view> Captures(const NodeIn& at, std::string_view branch) {
    const OnnxModel& model = at.graph.model();
    std::vector<std::string_view> names;
    for (const OnnxSubgraph& link : model.graph().Subgraphs(model.graph().nodes[at.node])) {
      if (link.attribute != branch) continue;
      const OnnxGraph& body = model.Subgraph(link);
      for (const OnnxNode& node : body.nodes) {
        for (const std::string_view name : ValuesReadBy(model, body, node)) {
          if (at.graph.IsMade(name) || at.graph.IsInput(name)) names.push_back(name);
        }
      }
    }
    return names;
  }

  // Writes the body to `path` and has `model` name it.
  Status Cut(const NodeIn& at, const TensorLookup& lookup, const std::string& path,
             ModelPlan& model) {
    const BlameGraph& graph = at.graph;
    const std::vector<uint32_t> constants = graph.MakersOfConstants(Captures(at, branch_));
    VERNIER_ASSIGN_OR_RETURN(const BranchModel branch,
                             CutBranch(graph.model(), at.node, branch_, constants, lookup));
    read_.insert(branch.inputs.begin(), branch.inputs.end());
    VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
    VERNIER_TRY(WritePieces(branch.bytes, nullptr, file));
    VERNIER_TRY(file.Commit());
    const bool external = !graph.model().external_tensors().empty();
    if (external && model.external_data_dir.empty()) {
      model.external_data_dir = fs::absolute(fs::path(model.path)).parent_path().string();
    }
    model.path = path;
    return {};
  }

  // The other side's body may read more. What is constant comes along with the body.
  Status FetchCaptures(const BlameGraph& graph, uint32_t node) {
    for (const std::string_view name : Captures({graph, node}, branch_)) {
      if (graph.IsConstant(name) || Find(inputs_, name) != nullptr) continue;
      VERNIER_ASSIGN_OR_RETURN(Tensor tensor, outer_.Fetch(name));
      inputs_.push_back({std::string(name), std::move(tensor)});
    }
    return {};
  }

  // A Loop's or a Scan's body has inputs of its own, as they are in the first round.
  Status StartRounds() {
    const OnnxModel& model = input_.reference.model();
    const OnnxNode& node = model.graph().nodes[ours_];
    for (const OnnxSubgraph& link : model.graph().Subgraphs(node)) {
      if (link.attribute != kBody) continue;
      captured_ = inputs_;
      rounds_.emplace(model, node, model.Subgraph(link));
      VERNIER_ASSIGN_OR_RETURN(TensorMap own, rounds_->First([this](std::string_view name) {
        return outer_.Fetch(name);
      }));
      std::move(own.begin(), own.end(), std::back_inserter(inputs_));
      return {};
    }
    return NotFound("no body");
  }

  // Without what no body reads, such as a counter that nobody looks at.
  TensorMap Read(TensorMap feed) const {
    std::erase_if(feed, [&](const NamedTensor& input) { return !read_.contains(input.name); });
    return feed;
  }

  // Later rounds, from what the reference makes of the rounds before.
  Status AddRounds(const RunnerPlan& reference, std::vector<TensorMap>& feeds) const {
    BodyFeeds rounds = *rounds_;
    while (feeds.size() < kMostRounds) {
      VERNIER_ASSIGN_OR_RETURN(const TensorMap made,
                               input_.infer(reference, {}, Read(feeds.back())));
      Result<TensorMap> next = rounds.Next(feeds.back(), made);
      if (!next.ok()) return {};
      feeds.push_back(captured_);
      std::move(next->begin(), next->end(), std::back_inserter(feeds.back()));
    }
    return {};
  }

  const BodySearchInput& input_;
  const OuterTensors outer_;
  const uint32_t theirs_;  // the node in either graph
  uint32_t ours_ = 0;
  std::string branch_;
  std::optional<BodyFeeds> rounds_;  // before the first
  TensorMap inputs_;                 // of the first round
  TensorMap captured_;               // those of them that stay the same
  std::unordered_set<std::string> read_;
  std::string largest_;
};

// Empty: something within is to blame.
std::string WhyNotWithin(const Result<std::vector<BlameCulprit>>& inner, std::string_view op) {
  if (!inner.ok()) return "; its body was not searched: " + inner.status().message();
  if (!inner->empty()) return {};
  const std::string rounds = " in the first " + std::to_string(kMostRounds) + " rounds";
  return "; within its body nothing is to blame" + (op == "If" ? std::string() : rounds);
}

// The candidate's nodes with bodies that are to blame by themselves, as part of a group, or as one
// with the nodes that the candidate's runtime fuses them with.
std::vector<uint32_t> NodesWithBodies(const BlameGraph& graph, const BlameLayerRecord& layer) {
  std::vector<uint32_t> nodes;
  for (const uint32_t index : graph.order()) {
    if (!HasBody(graph.graph().nodes[index].op_type)) continue;
    const std::string name = graph.NodeName(index);
    const auto has = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (has(layer.group) || has(layer.fused) || name == layer.node) nodes.push_back(index);
  }
  return nodes;
}

// The node that holds culprits, while as a whole it is within its error bound.
BlameCulprit Around(const BlameLayerRecord& layer) {
  BlameCulprit culprit{layer.node,
                       layer.op_type,
                       {},
                       layer.total_error,
                       layer.own_error,
                       "it holds the node above; as a whole it is within its "
                       "error bound, which is wide for a node with a body"};
  for (const BlameTensorRecord& tensor : layer.outputs) culprit.outputs.push_back(tensor.name);
  return culprit;
}

// Makes an error from the reference's tensors, or one whose maker is not known.
bool ErrsByItself(const BlameLayerRecord& layer) {
  return layer.own_error.value_or(layer.total_error) > 0;
}

}  // namespace

bool HasBody(std::string_view op) { return op == "If" || op == "Loop" || op == "Scan"; }

void SearchBranches(const BodySearchInput& input, BlameRecord& record) {
  std::vector<BlameCulprit> all;
  std::map<uint32_t, Result<std::vector<BlameCulprit>>> searched;
  for (BlameCulprit& culprit : record.culprits) {
    const auto layer = std::find_if(record.layers.begin(), record.layers.end(),
                                    [&](const auto& one) { return one.node == culprit.node; });
    if (layer != record.layers.end()) {
      for (const uint32_t node : NodesWithBodies(input.subject.graph(), *layer)) {
        // Several layers may be computed as one with it.
        const bool first = !searched.contains(node);
        if (first) searched.emplace(node, Search(input, layer->iteration, node).Run());
        const Result<std::vector<BlameCulprit>>& inner = searched.at(node);
        culprit.why += WhyNotWithin(inner, input.subject.graph().graph().nodes[node].op_type);
        if (first && inner.ok()) all.insert(all.end(), inner->begin(), inner->end());
      }
    }
    all.push_back(std::move(culprit));
  }
  record.culprits = std::move(all);
}

std::string SearchBodiesWithinBounds(const BodySearchInput& input, BlameRecord& record) {
  std::string told;
  size_t searched = 0;
  for (const BlameLayerRecord& layer : record.layers) {
    if (!ErrsByItself(layer)) continue;
    for (const uint32_t node : NodesWithBodies(input.subject.graph(), layer)) {
      const std::string name = "'" + input.subject.graph().NodeName(node) + "'";
      if (searched++ == kMostBodiesWithinBounds) {
        return told + "; bodies from " + name + " on were not searched";
      }
      Search search(input, layer.iteration, node);
      const Result<std::vector<BlameCulprit>> inner = search.Run();
      if (!inner.ok()) {
        told += "; the body of " + name + " was not searched: " + inner.status().message();
      } else if (inner->empty()) {
        if (!search.largest().empty()) told += "; " + search.largest();
      } else {
        record.culprits.insert(record.culprits.end(), inner->begin(), inner->end());
        record.culprits.push_back(Around(layer));
      }
    }
  }
  return record.culprits.empty() ? told : std::string();
}

std::string SayThatBodiesAreNotSearched(BlameRecord& record) {
  for (BlameCulprit& culprit : record.culprits) {
    if (HasBody(culprit.op_type)) {
      culprit.why += "; its body is not searched against saved outputs";
    }
  }
  const bool any = std::any_of(record.layers.begin(), record.layers.end(),
                               [](const auto& layer) { return HasBody(layer.op_type); });
  return any ? "; bodies are not searched against saved outputs" : "";
}

}  // namespace vernier
