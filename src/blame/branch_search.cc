#include "blame/branch_search.h"

#include <algorithm>
#include <filesystem>

#include "io/tensor_proto.h"
#include "model/onnx_branch.h"
#include "model/onnx_order.h"
#include "util/atomic_file.h"
#include "util/scratch_folder.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

class Search {
 public:
  Search(const BranchScene& scene, const BlameLayerRecord& layer) : scene_(scene), layer_(layer) {}

  Result<std::vector<BlameCulprit>> Run() {
    VERNIER_ASSIGN_OR_RETURN(const uint32_t theirs, FindNode(*scene_.candidate));
    VERNIER_ASSIGN_OR_RETURN(const uint32_t ours, FindNode(*scene_.reference));
    VERNIER_ASSIGN_OR_RETURN(branch_, TakenBranch(theirs));
    BlamePlan plan;
    plan.run = scene_.plan->run;
    plan.run.load_outputs.clear();
    plan.max_host_bytes = scene_.plan->max_host_bytes;
    plan.max_gpu_bytes = scene_.plan->max_gpu_bytes;
    plan.reference = plan.run.runners[scene_.reference_runner].name;
    VERNIER_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Create());
    VERNIER_TRY(Cut(*scene_.reference, ours, folder.path() + "/a.onnx",
                    plan.run.runners[scene_.reference_runner].model));
    VERNIER_TRY(Cut(*scene_.candidate, theirs, folder.path() + "/b.onnx",
                    plan.run.runners[scene_.candidate_runner].model));
    plan.feeds = {inputs_};
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
      const bool is_if = graph.graph().nodes[node].op_type == "If";
      if (is_if && Makes(graph, node, output)) return node;
    }
    return NotFound("no such If");
  }

  // A tensor that the reference has, or is fed.
  Result<Tensor> Fetch(std::string_view name) {
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

  Result<std::string> TakenBranch(uint32_t node) {
    const OnnxGraph& graph = scene_.candidate->graph();
    const std::string_view name = graph.Inputs(graph.nodes[node])[0];
    for (const OnnxTensor& tensor : graph.initializers) {
      if (tensor.name != name) continue;
      VERNIER_ASSIGN_OR_RETURN(const NamedTensor value,
                               ParseTensorProto(std::as_bytes(std::span(tensor.bytes))));
      return Branch(value.tensor);
    }
    VERNIER_ASSIGN_OR_RETURN(const Tensor value, Fetch(name));
    return Branch(value);
  }

  static Result<std::string> Branch(const Tensor& condition) {
    if (condition.dtype() != DType::kBool || condition.element_count() != 1) {
      return NotFound("no condition");
    }
    return std::string(condition.bytes()[0] != std::byte{0} ? "then_branch" : "else_branch");
  }

  // Writes the branch to `path` and has `model` name it.
  Status Cut(const BlameGraph& graph, uint32_t node, const std::string& path, ModelPlan& model) {
    const OnnxNode& found = graph.graph().nodes[node];
    for (const OnnxSubgraph& body : graph.graph().Subgraphs(found)) {
      if (body.attribute == branch_) VERNIER_TRY(FetchCaptures(graph, body));
    }
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

  Status FetchCaptures(const BlameGraph& graph, const OnnxSubgraph& link) {
    const OnnxGraph& body = graph.model().Subgraph(link);
    for (const OnnxNode& node : body.nodes) {
      for (const std::string_view name : ValuesReadBy(graph.model(), body, node)) {
        const bool outside = graph.IsMade(name) || graph.IsInput(name);
        if (!outside || Find(inputs_, name) != nullptr) continue;
        VERNIER_ASSIGN_OR_RETURN(Tensor tensor, Fetch(name));
        inputs_.push_back({std::string(name), std::move(tensor)});
      }
    }
    return {};
  }

  const BranchScene& scene_;
  const BlameLayerRecord& layer_;
  std::string branch_;
  TensorMap inputs_;
};

}  // namespace

void SearchBranches(const BranchScene& scene, BlameRecord& record) {
  std::vector<BlameCulprit> all;
  for (BlameCulprit& culprit : record.culprits) {
    const auto layer =
        std::find_if(record.layers.begin(), record.layers.end(), [&](const auto& candidate) {
          return candidate.node == culprit.node && candidate.op_type == "If";
        });
    if (layer != record.layers.end()) {
      Result<std::vector<BlameCulprit>> inner = Search(scene, *layer).Run();
      if (inner.ok()) all.insert(all.end(), inner->begin(), inner->end());
    }
    all.push_back(std::move(culprit));
  }
  record.culprits = std::move(all);
}

}  // namespace vernier
