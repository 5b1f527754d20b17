#include "blame/search/body_search.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <unordered_set>

#include "blame/judge/within_bounds.h"
#include "blame/search/body_feeds.h"
#include "blame/search/outer_tensors.h"
#include "model/edit/onnx_branch.h"
#include "model/onnx/onnx_order.h"
#include "util/files/atomic_file.h"
#include "util/files/scratch_folder.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBody = "body";

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
  return NotFound("the reference has no " + std::string(op) + " that produces the same");
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
// before. Without inputs that the body does not read, such as an unused counter.
Result<std::vector<TensorMap>> RoundFeeds(const FedBody& body, const RunnerPlan& reference,
                                          const InferOnce& infer,
                                          const std::unordered_set<std::string>& read) {
  const auto only_read = [&](TensorMap feed) {
    std::erase_if(feed, [&](const NamedTensor& one) { return !read.contains(one.name); });
    return feed;
  };
  std::vector<TensorMap> feeds = {body.first};
  std::optional<BodyFeeds> rounds = body.rounds;
  while (rounds && feeds.size() < kMostSearchedRounds) {
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
  plan.failed_by = around.failed_by;
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

}  // namespace

Result<BodyFindings> SearchWithin(const BodySearchInput& input, int64_t iteration, uint32_t node) {
  VERNIER_ASSIGN_OR_RETURN(const FedBody body, FeedBody(input, iteration, node));
  Result<BodyFindings> found = SearchBody(input, body, BodySizes::kAsFed);
  if (found.ok() || found.status().code() == StatusCode::kCancelled) return found;
  // Bodies within may not fit sizes that are known: see IslandBench.
  Result<BodyFindings> again = SearchBody(input, body, BodySizes::kFree);
  return again.ok() ? again : found;
}

}  // namespace vernier
