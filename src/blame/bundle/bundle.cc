#include "blame/bundle/bundle.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "blame/bundle/bundle_folder.h"
#include "io/test_data/test_data_writer.h"
#include "model/edit/onnx_cut.h"
#include "model/edit/onnx_save.h"
#include "util/atomic_file.h"
#include "util/mapped_file.h"
#include "util/unique_fd.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

class Bundle {
 public:
  Bundle(const BundleRequest& request, const BlameGraph& graph, const BlameRecord& record)
      : request_(request), graph_(graph), record_(record) {}

  // The layers of the culprit: one, or those of a region.
  Status ChooseLayers() {
    if (record_.culprits.empty()) {
      return InvalidArgument("--bundle: nothing is to blame, so there is nothing to hand over");
    }
    const std::vector<std::string>& region = record_.disturbance.region;
    // A node within a branch is no layer; the If around it, the next culprit, is.
    for (const BlameCulprit& culprit : record_.culprits) {
      const bool is_region = !region.empty() && region.front() == culprit.node;
      for (const BlameLayerRecord& layer : record_.layers) {
        const bool in = is_region
                            ? std::find(region.begin(), region.end(), layer.node) != region.end()
                            : layer.node == culprit.node;
        if (in) layers_.push_back(&layer);
      }
      if (!layers_.empty()) return {};
    }
    return InvalidArgument("--bundle: '" + record_.culprits.front().node +
                           "' is no layer that was looked at");
  }

  // What the layers read from outside, and what they make that is wanted.
  void FindBoundary() {
    for (const BlameLayerRecord* layer : layers_) {
      for (const BlameTensorRecord& tensor : layer->outputs) {
        outputs_.push_back(tensor.name_in_candidate());
      }
    }
    for (const BlameLayerRecord* layer : layers_) {
      for (const std::string& name : layer->inputs) {
        const bool made = std::find(outputs_.begin(), outputs_.end(), name) != outputs_.end();
        const bool known = std::find(inputs_.begin(), inputs_.end(), name) != inputs_.end();
        if (!made && !known) inputs_.push_back(name);
      }
    }
    // Tensors between the layers of a region stay inside, or exposing them would undo the fusion.
    if (layers_.size() < 2) return;
    std::erase_if(outputs_, [&](const std::string& name) {
      return std::any_of(layers_.begin(), layers_.end(), [&](const BlameLayerRecord* layer) {
        return std::find(layer->inputs.begin(), layer->inputs.end(), name) != layer->inputs.end();
      });
    });
  }

  Status Fetch(const ReferenceSource& source, std::span<const TensorMap> feeds) {
    const int64_t iteration = layers_.front()->iteration;
    const TensorMap& feed = feeds[static_cast<size_t>(iteration)];
    std::vector<std::string_view> names;
    for (const auto* list : {&inputs_, &outputs_}) {
      for (const std::string& name : *list) {
        if (source.pairs.Find(name) != nullptr) names.push_back(name);
      }
    }
    std::vector<UnexposedTensor> unexposed;
    TensorsByName tensors;
    VERNIER_TRY(ReferenceProbe(source, unexposed).Fetch(names, feed, iteration, tensors));
    const auto take = [&](const std::vector<std::string>& from, TensorMap& into) -> Status {
      for (const std::string& name : from) {
        const auto found = tensors.find(name);
        const Tensor* tensor = found != tensors.end() ? &found->second : Find(feed, name);
        if (tensor == nullptr) {
          return BackendError("--bundle: the reference does not hand out '" + name + "'");
        }
        into.push_back({name, *tensor});
      }
      return {};
    };
    VERNIER_TRY(take(inputs_, feed_));
    return take(outputs_, expected_);
  }

  // Into a new folder, which is the bundle once it is whole.
  Status Write(const std::string& folder) {
    folder_ = folder;
    VERNIER_TRY(CreateDirectories(folder_));
    VERNIER_TRY(WriteModel());
    VERNIER_ASSIGN_OR_RETURN(TestDataWriter inputs,
                             TestDataWriter::Create(folder_, TestDataPart::kInputs));
    VERNIER_TRY(inputs.Append(feed_));
    VERNIER_ASSIGN_OR_RETURN(TestDataWriter outputs,
                             TestDataWriter::Create(folder_, TestDataPart::kOutputs));
    VERNIER_TRY(outputs.Append(expected_));
    // Not beside the test data: a folder with JSON files is taken for saved results.
    VERNIER_TRY(CreateDirectories(PathOf("found")));
    VERNIER_TRY(WriteFileAtomically(PathOf("found/blame.json"), ToJson(record_)));
    VERNIER_TRY(WriteFileAtomically(PathOf(kBundleScript), Script()));
    std::error_code error;
    fs::permissions(PathOf(kBundleScript), fs::perms::owner_exec | fs::perms::group_exec,
                    fs::perm_options::add, error);
    return error ? IoError("'" + PathOf(kBundleScript) + "': " + error.message()) : Status();
  }

 private:
  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }

  // Runtimes hold every body against the sizes that they know, also the branch that such sizes
  // never reach: of inputs of nodes with bodies, only what the model itself knows is declared.
  Result<bool> HasBodies() const {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> nodes,
                             NodesBetween(graph_.model(), inputs_, outputs_));
    return std::any_of(nodes.begin(), nodes.end(), [&](uint32_t index) {
      return graph_.graph().nodes[index].subgraph_count > 0;
    });
  }

  // The rank stays in any case: some runtimes take an input without one for a scalar.
  static std::vector<Dim> ShapeFor(const Tensor& tensor, const TensorInfo& known, bool bodies) {
    std::vector<Dim> shape;
    for (const int64_t dim : tensor.dims()) shape.push_back({dim, {}});
    if (!bodies) return shape;
    if (known.shape && known.shape->size() == shape.size()) return *known.shape;
    return std::vector<Dim>(shape.size(), Dim{-1, {}});
  }

  Status WriteModel() {
    VERNIER_ASSIGN_OR_RETURN(const bool bodies, HasBodies());
    CutPlan plan;
    for (const NamedTensor& input : feed_) {
      const std::vector<TensorInfo> known =
          DescribeTensors(graph_.model(), std::span(&input.name, 1));
      TensorInfo info{input.name, DType::kUndefined, ShapeFor(input.tensor, known[0], bodies)};
      info.dtype = known[0].dtype != DType::kUndefined ? known[0].dtype : input.tensor.dtype();
      plan.inputs.push_back(std::move(info));
    }
    for (const NamedTensor& output : expected_) {
      TensorInfo info{output.name, DType::kUndefined, std::vector<Dim>()};
      for (const int64_t dim : output.tensor.dims()) info.shape->push_back({dim, {}});
      plan.outputs.push_back(std::move(info));
    }
    VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, CutModel(graph_.model(), plan));
    VERNIER_ASSIGN_OR_RETURN(const int memory, ToMemfd(pieces));
    const UniqueFd owned(memory);
    VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                             MappedFile::Open("/proc/self/fd/" + std::to_string(memory)));
    const std::span<const std::byte> bytes = file->bytes();
    VERNIER_ASSIGN_OR_RETURN(const OnnxModel part,
                             OnnxModel::FromBytes(bytes, std::move(file), graph_.model().path()));
    SaveOnnxOptions options;
    options.source.directory = request_.model->external_data_dir;
    return SaveOnnx(part, {}, PathOf("model.onnx"), options);
  }

  // Names come from a model that nobody vouches for: none may end the comment.
  static std::string Comment(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return "# " + text + "\n";
  }

  std::string Script() const {
    std::string text =
        "#!/bin/sh\n"
        "# The part of a model that is to blame, on its real inputs, against the outputs that the\n"
        "# reference computed. Exit code 1: the failure is there.\n";
    const BlameCulprit& culprit = record_.culprits.front();
    text += Comment(culprit.node + " [" + culprit.op_type + "]: " + culprit.why);
    for (const RunnerRecord& runner : record_.runners) {
      text += Comment(runner.name + ": " + runner.backend + " " + runner.framework_version + ", " +
                      runner.device + ", " + runner.precision);
    }
    text += Comment("vernier " + record_.version + "; found by: " + record_.command);
    text +=
        "cd \"$(dirname \"$0\")\" || exit 1\n"
        "exec ${VERNIER:-vernier} run model.onnx " +
        request_.runner_words + " --load-inputs . --load-outputs . --tolerance auto \"$@\"\n";
    return text;
  }

  const BundleRequest& request_;
  std::string folder_;  // where it is written
  const BlameGraph& graph_;
  const BlameRecord& record_;
  std::vector<const BlameLayerRecord*> layers_;
  std::vector<std::string> inputs_, outputs_;
  TensorMap feed_, expected_;
};

}  // namespace

Status WriteBundle(const BundleRequest& request, const BlameGraph& graph,
                   const ReferenceSource& reference, std::span<const TensorMap> feeds,
                   const BlameRecord& record) {
  Bundle bundle(request, graph, record);
  VERNIER_TRY(bundle.ChooseLayers());
  bundle.FindBoundary();
  VERNIER_TRY(bundle.Fetch(reference, feeds));
  VERNIER_ASSIGN_OR_RETURN(const BundleFolder folder, BundleFolder::Create(request.folder));
  VERNIER_TRY(bundle.Write(folder.path()));
  return folder.Publish();
}

}  // namespace vernier
