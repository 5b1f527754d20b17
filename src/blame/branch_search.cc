#include "blame/branch_search.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <unordered_set>

#include "blame/body_rounds.h"
#include "io/tensor_proto.h"
#include "model/onnx_branch.h"
#include "model/onnx_order.h"
#include "util/atomic_file.h"
#include "util/scratch_folder.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// Where the search cannot tell what later rounds are fed with, or there are many, it looks at
// these.
constexpr size_t kMostRounds = 8;
constexpr std::string_view kBody = "body";

class Search {
 public:
  Search(const BranchScene& scene, const BlameLayerRecord& layer) : scene_(scene), layer_(layer) {}

  Result<std::vector<BlameCulprit>> Run() {
    VERNIER_ASSIGN_OR_RETURN(const uint32_t theirs, FindNode(*scene_.candidate));
    VERNIER_ASSIGN_OR_RETURN(const uint32_t ours, FindNode(*scene_.reference));
    VERNIER_ASSIGN_OR_RETURN(branch_, BodyOf(theirs));
    VERNIER_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Create());
    BlamePlan plan;
    plan.run = scene_.plan->run;
    plan.run.load_outputs.clear();
    plan.max_host_bytes = scene_.plan->max_host_bytes;
    plan.max_gpu_bytes = scene_.plan->max_gpu_bytes;
    RunnerPlan& reference = plan.run.runners[scene_.reference_runner];
    plan.reference = reference.name;
    VERNIER_TRY(FetchCaptures(*scene_.reference, ours));
    VERNIER_TRY(FetchCaptures(*scene_.candidate, theirs));
    std::optional<BodyRounds> rounds;
    if (branch_ == kBody) VERNIER_TRY(StartRounds(ours, rounds));
    VERNIER_TRY(Cut(*scene_.reference, ours, folder.path() + "/a.onnx", reference.model));
    VERNIER_TRY(Cut(*scene_.candidate, theirs, folder.path() + "/b.onnx",
                    plan.run.runners[scene_.candidate_runner].model));
    plan.feeds = {inputs_};
    if (rounds) VERNIER_TRY(AddRounds(reference, *rounds, plan.feeds));
    for (TensorMap& feed : plan.feeds) feed = Read(std::move(feed));
    const BlameRecord found = scene_.investigate(plan);
    std::vector<BlameCulprit> culprits = found.culprits;
    for (BlameCulprit& culprit : culprits) {
      culprit.why = "in the " + branch_ + " of '" + layer_.node + "': " + culprit.why;
    }
    return culprits;
  }

 private:
  static bool Makes(const BlameGraph& graph, uint32_t node, const std::string& name) {
    const auto outputs = graph.graph().Outputs(graph.graph().nodes[node]);
    return std::find(outputs.begin(), outputs.end(), name) != outputs.end();
  }

  Result<uint32_t> FindNode(const BlameGraph& graph) const {
    const std::string& output = layer_.outputs.front().name;
    for (const uint32_t node : graph.order()) {
      const bool same = graph.graph().nodes[node].op_type == layer_.op_type;
      if (same && Makes(graph, node, output)) return node;
    }
    return NotFound("no such " + layer_.op_type);
  }

  // A tensor that the reference has, or is fed.
  Result<Tensor> Fetch(std::string_view name) {
    for (const OnnxTensor& tensor : scene_.reference->graph().initializers) {
      if (tensor.name != name) continue;
      VERNIER_ASSIGN_OR_RETURN(NamedTensor value,
                               ParseTensorProto(std::as_bytes(std::span(tensor.bytes))));
      return std::move(value.tensor);
    }
    const TensorMap& feed = (*scene_.feeds)[static_cast<size_t>(layer_.iteration)];
    if (const Tensor* fed = Find(feed, name)) return *fed;
    if (scene_.source.pairs->Find(name) == nullptr) return NotFound("not a tensor of both sides");
    std::vector<UnexposedTensor> unexposed;
    TensorsByName tensors;
    VERNIER_TRY(
        ReferenceProbe(scene_.source, unexposed).Fetch({name}, feed, layer_.iteration, tensors));
    const auto found = tensors.find(name);
    if (found == tensors.end()) return NotFound("the reference does not hand it out");
    return found->second;
  }

  // The attribute that holds the body that was run.
  Result<std::string> BodyOf(uint32_t node) {
    const OnnxGraph& graph = scene_.candidate->graph();
    if (graph.nodes[node].op_type != "If") return std::string(kBody);
    VERNIER_ASSIGN_OR_RETURN(const Tensor value, Fetch(graph.Inputs(graph.nodes[node])[0]));
    return Branch(value);
  }

  static Result<std::string> Branch(const Tensor& condition) {
    if (condition.dtype() != DType::kBool || condition.element_count() != 1) {
      return NotFound("no condition");
    }
    return std::string(condition.bytes()[0] != std::byte{0} ? "then_branch" : "else_branch");
  }

  // Writes the body to `path` and has `model` name it.
  Status Cut(const BlameGraph& graph, uint32_t node, const std::string& path, ModelPlan& model) {
    const TensorLookup lookup = [this](std::string_view wanted) {
      TensorInfo info;
      if (const Tensor* tensor = Find(inputs_, wanted)) {
        info.dtype = tensor->dtype();
        info.shape.emplace();
        for (const int64_t dim : tensor->dims()) info.shape->push_back({dim, {}});
      }
      return info;
    };
    VERNIER_ASSIGN_OR_RETURN(const BranchModel branch,
                             CutBranch(graph.model(), node, branch_, lookup));
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

  // What the body reads of the graph around it; that of the other side may read more.
  Status FetchCaptures(const BlameGraph& graph, uint32_t index) {
    for (const OnnxSubgraph& link : graph.graph().Subgraphs(graph.graph().nodes[index])) {
      if (link.attribute != branch_) continue;
      const OnnxGraph& body = graph.model().Subgraph(link);
      for (const OnnxNode& node : body.nodes) {
        for (const std::string_view name : ValuesReadBy(graph.model(), body, node)) {
          const bool outside = graph.IsMade(name) || graph.IsInput(name);
          if (!outside || Find(inputs_, name) != nullptr) continue;
          VERNIER_ASSIGN_OR_RETURN(Tensor tensor, Fetch(name));
          inputs_.push_back({std::string(name), std::move(tensor)});
        }
      }
    }
    return {};
  }

  // A Loop's or a Scan's body has inputs of its own, as they are in the first round.
  Status StartRounds(uint32_t index, std::optional<BodyRounds>& rounds) {
    const OnnxModel& model = scene_.reference->model();
    const OnnxNode& node = model.graph().nodes[index];
    for (const OnnxSubgraph& link : model.graph().Subgraphs(node)) {
      if (link.attribute != kBody) continue;
      captured_ = inputs_;
      rounds.emplace(model, node, model.Subgraph(link));
      VERNIER_ASSIGN_OR_RETURN(
          TensorMap own, rounds->First([this](std::string_view name) { return Fetch(name); }));
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
  Status AddRounds(const RunnerPlan& reference, BodyRounds& rounds, std::vector<TensorMap>& feeds) {
    while (feeds.size() < kMostRounds) {
      VERNIER_ASSIGN_OR_RETURN(const TensorMap made, scene_.infer(reference, Read(feeds.back())));
      Result<TensorMap> next = rounds.Next(feeds.back(), made);
      if (!next.ok()) return {};
      feeds.push_back(captured_);
      std::move(next->begin(), next->end(), std::back_inserter(feeds.back()));
    }
    return {};
  }

  const BranchScene& scene_;
  const BlameLayerRecord& layer_;
  std::string branch_;
  TensorMap inputs_;    // of the first round
  TensorMap captured_;  // those of them that stay the same
  std::unordered_set<std::string> read_;
};

// Empty: something within is to blame.
std::string WhyNotWithin(const Result<std::vector<BlameCulprit>>& inner, std::string_view op) {
  if (!inner.ok()) return "; its body was not searched: " + inner.status().message();
  if (!inner->empty()) return {};
  const std::string rounds = " in the first " + std::to_string(kMostRounds) + " rounds";
  return "; within its body nothing is to blame" + (op == "If" ? std::string() : rounds);
}

}  // namespace

bool HasBody(std::string_view op) { return op == "If" || op == "Loop" || op == "Scan"; }

void SearchBranches(const BranchScene& scene, BlameRecord& record) {
  std::vector<BlameCulprit> all;
  for (BlameCulprit& culprit : record.culprits) {
    const auto layer =
        std::find_if(record.layers.begin(), record.layers.end(), [&](const auto& candidate) {
          return candidate.node == culprit.node && HasBody(candidate.op_type);
        });
    if (layer != record.layers.end()) {
      Result<std::vector<BlameCulprit>> inner = Search(scene, *layer).Run();
      culprit.why += WhyNotWithin(inner, culprit.op_type);
      if (inner.ok()) all.insert(all.end(), inner->begin(), inner->end());
    }
    all.push_back(std::move(culprit));
  }
  record.culprits = std::move(all);
}

}  // namespace vernier
