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

struct NodeIn {
  const BlameGraph& graph;
  uint32_t node;
};

// A body on both sides, and what it is fed with in the first round.
struct FedBody {
  NodeIn reference, candidate;      // the nodes that hold it
  std::string branch;               // the attribute that it is
  TensorMap captured;               // of the graph around it: the same in all rounds
  TensorMap first;                  // these, and a Loop's or a Scan's own inputs
  std::optional<BodyFeeds> rounds;  // after the first; none: it is an If's
};

// What was found within a body.
struct BodyFindings {
  std::vector<BlameCulprit> culprits;
  std::vector<BlameCulprit> around;  // nodes of the graph around it, whose constants came along
  std::string largest;  // "in the body of 'loop' ...", the layer that errs most; empty: none errs
};

// The reference's node that makes what the candidate's makes.
Result<uint32_t> FindPartner(const BodySearchInput& input, uint32_t theirs) {
  const OnnxGraph& candidate = input.subject.graph().graph();
  const OnnxGraph& reference = input.reference.graph();
  const std::string_view op = candidate.nodes[theirs].op_type;
  for (const std::string_view made : candidate.Outputs(candidate.nodes[theirs])) {
    const std::string* paired = input.source.pairs.Find(made);
    const std::string_view name = paired == nullptr ? made : std::string_view(*paired);
    for (const uint32_t node : input.reference.order()) {
      const auto outputs = reference.Outputs(reference.nodes[node]);
      const bool makes = std::find(outputs.begin(), outputs.end(), name) != outputs.end();
      if (!name.empty() && makes && reference.nodes[node].op_type == op) return node;
    }
  }
  return NotFound("the reference has no " + std::string(op) + " that makes the same");
}

Result<std::string> BranchOf(const Tensor& condition) {
  if (condition.dtype() != DType::kBool || condition.element_count() != 1) {
    return NotFound("no condition");
  }
  return std::string(condition.bytes()[0] != std::byte{0} ? "then_branch" : "else_branch");
}

// The attribute that holds the body that was run.
Result<std::string> BodyOf(const NodeIn& at, const OuterTensors& outer) {
  const OnnxGraph& graph = at.graph.graph();
  if (graph.nodes[at.node].op_type != "If") return std::string(kBody);
  VERNIER_ASSIGN_OR_RETURN(const Tensor value, outer.Fetch(graph.Inputs(graph.nodes[at.node])[0]));
  return BranchOf(value);
}

// What the body reads of the graph around it.
std::vector<std::string_view> Captures(const NodeIn& at, std::string_view branch) {
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

// The other side's body may read more. What is constant comes along with the body.
Status AddCaptures(const NodeIn& at, std::string_view branch, const OuterTensors& outer,
                   TensorMap& captured) {
  for (const std::string_view name : Captures(at, branch)) {
    if (at.graph.IsConstant(name) || Find(captured, name) != nullptr) continue;
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, outer.Fetch(name));
    captured.push_back({std::string(name), std::move(tensor)});
  }
  return {};
}

// A Loop's or a Scan's body has inputs of its own, as they are in the first round.
Status StartRounds(const OuterTensors& outer, FedBody& body) {
  const OnnxModel& model = body.reference.graph.model();
  const OnnxNode& node = model.graph().nodes[body.reference.node];
  for (const OnnxSubgraph& link : model.graph().Subgraphs(node)) {
    if (link.attribute != kBody) continue;
    const auto fetch = [&](std::string_view name) { return outer.Fetch(name); };
    VERNIER_ASSIGN_OR_RETURN(BodyFeeds rounds,
                             BodyFeeds::Start(model, node, model.Subgraph(link), fetch));
    body.first.insert(body.first.end(), rounds.first().begin(), rounds.first().end());
    body.rounds.emplace(std::move(rounds));
    return {};
  }
  return NotFound("no body");
}

// The body that the candidate's node ran in this iteration.
Result<FedBody> FeedBody(const BodySearchInput& input, int64_t iteration, uint32_t node) {
  const OuterTensors outer(input, iteration);
  const NodeIn theirs{input.subject.graph(), node};
  VERNIER_ASSIGN_OR_RETURN(const uint32_t partner, FindPartner(input, node));
  const NodeIn ours{input.reference, partner};
  VERNIER_ASSIGN_OR_RETURN(const std::string branch, BodyOf(theirs, outer));
  TensorMap captured;
  VERNIER_TRY(AddCaptures(ours, branch, outer, captured));
  VERNIER_TRY(AddCaptures(theirs, branch, outer, captured));
  FedBody body{ours, theirs, branch, captured, captured, std::nullopt};
  if (branch == kBody) VERNIER_TRY(StartRounds(outer, body));
  return body;
}

TensorLookup LookupOf(const TensorMap& feed, BodySizes sizes) {
  TensorLookup as_fed = [&feed](std::string_view wanted) {
    TensorInfo info;
    if (const Tensor* tensor = Find(feed, wanted)) {
      info.dtype = tensor->dtype();
      info.shape.emplace();
      for (const int64_t dim : tensor->dims()) info.shape->push_back({dim, {}});
    }
    return info;
  };
  return sizes == BodySizes::kFree ? WithFreeSizes(std::move(as_fed)) : as_fed;
}

// Names of what a body that is cut out is fed with, and of what the nodes of the graph around it
// make that came along.
struct CutNames {
  std::unordered_set<std::string> inputs;
  std::unordered_set<std::string> around;
};

// Writes the body to `path` and has `model` name it.
Result<CutNames> Cut(const NodeIn& at, const std::string& branch, const TensorLookup& lookup,
                     const std::string& path, ModelPlan& model) {
  const BlameGraph& graph = at.graph;
  const std::vector<uint32_t> constants = graph.MakersOfConstants(Captures(at, branch));
  VERNIER_ASSIGN_OR_RETURN(const BranchModel cut,
                           CutBranch(graph.model(), at.node, branch, constants, lookup));
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  VERNIER_TRY(WritePieces(cut.bytes, nullptr, file));
  VERNIER_TRY(file.Commit());
  const bool external = !graph.model().external_tensors().empty();
  if (external && model.external_data_dir.empty()) {
    model.external_data_dir = fs::absolute(fs::path(model.path)).parent_path().string();
  }
  model.path = path;
  CutNames names;
  for (const auto& name : cut.inputs) names.inputs.emplace(name);
  for (const uint32_t node : constants) {
    for (const std::string_view made : graph.graph().Outputs(graph.graph().nodes[node])) {
      names.around.emplace(made);
    }
  }
  return names;
}

// What the body is fed with round by round: later ones from what the reference makes of the rounds
// before. Without what no body reads, such as a counter that nobody looks at.
Result<std::vector<TensorMap>> RoundFeeds(const FedBody& body, const RunnerPlan& reference,
                                          const InferOnce& infer,
                                          const std::unordered_set<std::string>& read) {
  const auto only_read = [&](TensorMap feed) {
    std::erase_if(feed, [&](const NamedTensor& one) { return !read.contains(one.name); });
    return feed;
  };
  std::vector<TensorMap> feeds = {body.first};
  std::optional<BodyFeeds> rounds = body.rounds;
  while (rounds && feeds.size() < kMostRounds) {
    VERNIER_ASSIGN_OR_RETURN(const TensorMap made, infer(reference, {}, only_read(feeds.back())));
    Result<TensorMap> next = rounds->Next(feeds.back(), made);
    if (!next.ok()) break;
    feeds.push_back(body.captured);
    std::move(next->begin(), next->end(), std::back_inserter(feeds.back()));
  }
  for (TensorMap& feed : feeds) feed = only_read(std::move(feed));
  return feeds;
}

// How bodies are investigated: as the model around them is.
BlamePlan PlanWithin(const BlamePlan& around, const std::string& reference) {
  BlamePlan plan;
  plan.run = around.run;
  plan.run.load_outputs.clear();
  plan.failed = around.failed;
  plan.max_host_bytes = around.max_host_bytes;
  plan.max_gpu_bytes = around.max_gpu_bytes;
  plan.reference = reference;
  return plan;
}

BodyFindings FindingsOf(const BlameRecord& found, const std::string& where, const CutNames& names) {
  BodyFindings findings{{}, {}, LargestOwnError(found.layers)};
  if (!findings.largest.empty()) findings.largest = where + " it is " + findings.largest;
  for (BlameCulprit culprit : found.culprits) {
    const bool around =
        !culprit.outputs.empty() && std::ranges::all_of(culprit.outputs, [&](const auto& name) {
          return names.around.contains(name);
        });
    if (around) {
      findings.around.push_back(std::move(culprit));
      continue;
    }
    const bool deeper = culprit.why.starts_with("in the ");
    culprit.why = where + (deeper ? ", and there " : ": ") + culprit.why;
    findings.culprits.push_back(std::move(culprit));
  }
  return findings;
}

Result<BodyFindings> SearchBody(const BodySearchInput& input, const FedBody& body,
                                BodySizes sizes) {
  VERNIER_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Create());
  const BlamePlan& around = input.subject.plan;
  const Sides& places = input.subject.sides.places;
  BlamePlan plan = PlanWithin(around, around.run.runners[*places.reference].name);
  RunnerPlan& reference = plan.run.runners[*places.reference];
  ModelPlan& candidate = plan.run.runners[places.candidate].model;
  const TensorLookup lookup = LookupOf(body.first, sizes);
  CutNames names;
  const auto cut = [&](const NodeIn& at, const char* name, ModelPlan& model) -> Status {
    VERNIER_ASSIGN_OR_RETURN(CutNames own,
                             Cut(at, body.branch, lookup, folder.path() + name, model));
    names.inputs.merge(own.inputs);
    names.around.merge(own.around);
    return {};
  };
  VERNIER_TRY(cut(body.reference, "/a.onnx", reference.model));
  VERNIER_TRY(cut(body.candidate, "/b.onnx", candidate));
  VERNIER_ASSIGN_OR_RETURN(plan.feeds, RoundFeeds(body, reference, input.infer, names.inputs));
  const BlameRecord found = input.investigate(plan);
  // What was not looked at is not innocent.
  if (!found.error.empty()) return NotFound(found.error);
  const NodeIn& at = body.candidate;
  return FindingsOf(found, "in the " + body.branch + " of '" + at.graph.NodeName(at.node) + "'",
                    names);
}

// Within the body of the candidate's `node`.
Result<BodyFindings> SearchWithin(const BodySearchInput& input, int64_t iteration, uint32_t node) {
  VERNIER_ASSIGN_OR_RETURN(const FedBody body, FeedBody(input, iteration, node));
  Result<BodyFindings> found = SearchBody(input, body, BodySizes::kAsFed);
  if (found.ok() || found.status().code() == StatusCode::kCancelled) return found;
  // Bodies within may not fit sizes that are known: see IslandBench.
  Result<BodyFindings> again = SearchBody(input, body, BodySizes::kFree);
  return again.ok() ? again : found;
}

// Empty: something within is to blame.
std::string WhyNotWithin(const Result<BodyFindings>& inner, std::string_view op) {
  if (!inner.ok()) return "; its body was not searched: " + inner.status().message();
  if (!inner->culprits.empty() || !inner->around.empty()) return {};
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

// The search around a body has looked at these nodes, too: each is listed once.
void AddAround(const std::vector<BlameCulprit>& around, const std::vector<BlameCulprit>& known,
               std::vector<BlameCulprit>& all) {
  for (const BlameCulprit& culprit : around) {
    const auto same = [&](const BlameCulprit& other) { return other.node == culprit.node; };
    if (std::ranges::any_of(known, same) || std::ranges::any_of(all, same)) continue;
    all.push_back(culprit);
  }
}

// Makes an error from the reference's tensors, or one whose maker is not known.
bool ErrsByItself(const BlameLayerRecord& layer) {
  return layer.own_error.value_or(layer.total_error) > 0;
}

}  // namespace

bool HasBody(std::string_view op) { return op == "If" || op == "Loop" || op == "Scan"; }

void SearchBranches(const BodySearchInput& input, BlameRecord& record) {
  std::vector<BlameCulprit> all;
  std::map<uint32_t, Result<BodyFindings>> searched;
  for (BlameCulprit& culprit : record.culprits) {
    const auto layer = std::find_if(record.layers.begin(), record.layers.end(),
                                    [&](const auto& one) { return one.node == culprit.node; });
    if (layer != record.layers.end()) {
      for (const uint32_t node : NodesWithBodies(input.subject.graph(), *layer)) {
        // Several layers may be computed as one with it.
        const bool first = !searched.contains(node);
        if (first) searched.emplace(node, SearchWithin(input, layer->iteration, node));
        const Result<BodyFindings>& inner = searched.at(node);
        culprit.why += WhyNotWithin(inner, input.subject.graph().graph().nodes[node].op_type);
        if (!first || !inner.ok()) continue;
        all.insert(all.end(), inner->culprits.begin(), inner->culprits.end());
        AddAround(inner->around, record.culprits, all);
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
      const Result<BodyFindings> inner = SearchWithin(input, layer.iteration, node);
      if (!inner.ok()) {
        told += "; the body of " + name + " was not searched: " + inner.status().message();
        continue;
      }
      AddAround(inner->around, {}, record.culprits);
      if (inner->culprits.empty()) {
        if (!inner->largest.empty()) told += "; " + inner->largest;
      } else {
        record.culprits.insert(record.culprits.end(), inner->culprits.begin(),
                               inner->culprits.end());
        record.culprits.push_back(Around(layer));
      }
    }
  }
  return record.culprits.empty() ? told : std::string();
}

std::string SayThatBodiesAreNotSearched(const std::string& against, BlameRecord& record) {
  for (BlameCulprit& culprit : record.culprits) {
    if (HasBody(culprit.op_type)) {
      culprit.why += "; its body is not searched against " + against;
    }
  }
  const bool any = std::any_of(record.layers.begin(), record.layers.end(),
                               [](const auto& layer) { return HasBody(layer.op_type); });
  return any ? "; bodies are not searched against " + against : "";
}

}  // namespace vernier
