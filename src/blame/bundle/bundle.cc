#include "blame/bundle/bundle.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "blame/bundle/bundle_folder.h"
#include "io/results/test_data_writer.h"
#include "model/edit/onnx_extract.h"
#include "model/edit/onnx_save.h"
#include "record/schema/side_names.h"
#include "util/files/atomic_file.h"
#include "util/files/mapped_file.h"
#include "util/files/unique_fd.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// The tensors between a part of a model and the rest, by the candidate's names.
struct Boundary {
  std::vector<std::string> inputs, outputs;
};

// The part's inputs, and what the reference makes of them.
struct PartTensors {
  TensorMap feed, expected;
};

// The layers of the culprit: one, or those of a region.
Result<std::vector<const BlameLayerRecord*>> LayersOfCulprit(const BlameRecord& record) {
  if (record.culprits.empty()) {
    return InvalidArgument("--bundle: nothing is to blame, so there is nothing to save");
  }
  const std::vector<std::string>& region = record.disturbance.region;
  // A node within a branch is no layer; the If around it, the next culprit, is.
  for (const BlameCulprit& culprit : record.culprits) {
    std::vector<const BlameLayerRecord*> layers;
    const bool is_region = !region.empty() && region.front() == culprit.node;
    for (const BlameLayerRecord& layer : record.layers) {
      const bool in = is_region
                          ? std::find(region.begin(), region.end(), layer.node) != region.end()
                          : layer.node == culprit.node;
      if (in) layers.push_back(&layer);
    }
    if (!layers.empty()) return layers;
  }
  return InvalidArgument("--bundle: '" + record.culprits.front().node +
                         "' is not a layer that was examined");
}

// What the layers read from outside, and what they make that is wanted.
Boundary BoundaryOf(std::span<const BlameLayerRecord* const> layers) {
  Boundary boundary;
  std::vector<std::string>&inputs = boundary.inputs, &outputs = boundary.outputs;
  for (const BlameLayerRecord* layer : layers) {
    for (const BlameTensorRecord& tensor : layer->outputs) {
      outputs.push_back(tensor.name_in_candidate());
    }
  }
  for (const BlameLayerRecord* layer : layers) {
    for (const std::string& name : layer->inputs) {
      const bool made = std::find(outputs.begin(), outputs.end(), name) != outputs.end();
      const bool known = std::find(inputs.begin(), inputs.end(), name) != inputs.end();
      if (!made && !known) inputs.push_back(name);
    }
  }
  // Tensors between the layers of a region stay inside, or exposing them would undo the fusion.
  if (layers.size() < 2) return boundary;
  std::erase_if(outputs, [&](const std::string& name) {
    return std::any_of(layers.begin(), layers.end(), [&](const BlameLayerRecord* layer) {
      return std::find(layer->inputs.begin(), layer->inputs.end(), name) != layer->inputs.end();
    });
  });
  return boundary;
}

Result<PartTensors> FetchPart(const Boundary& boundary, const ReferenceSource& source,
                              const TensorMap& feed, int64_t iteration) {
  std::vector<std::string_view> names;
  for (const auto* list : {&boundary.inputs, &boundary.outputs}) {
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
        return BackendError("--bundle: the reference does not return '" + name + "'");
      }
      into.push_back({name, *tensor});
    }
    return {};
  };
  PartTensors part;
  VERNIER_TRY(take(boundary.inputs, part.feed));
  VERNIER_TRY(take(boundary.outputs, part.expected));
  return part;
}

// Runtimes check every body against the sizes that they know, also the branch that such sizes
// never reach: of inputs of nodes with bodies, only what the model itself knows is declared.
Result<bool> HasBodies(const BlameGraph& graph, const Boundary& boundary) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> nodes,
                           NodesBetween(graph.model(), boundary.inputs, boundary.outputs));
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](uint32_t index) { return graph.graph().nodes[index].subgraph_count > 0; });
}

// The rank stays in any case: some runtimes take an input without one for a scalar.
std::vector<Dim> ShapeFor(const Tensor& tensor, const TensorInfo& known, bool bodies) {
  std::vector<Dim> shape;
  for (const int64_t dim : tensor.dims()) shape.push_back({dim, {}});
  if (!bodies) return shape;
  if (known.shape && known.shape->size() == shape.size()) return *known.shape;
  return std::vector<Dim>(shape.size(), Dim{-1, {}});
}

ExtractPlan PlanPart(const OnnxModel& model, const PartTensors& part, bool bodies) {
  ExtractPlan plan;
  for (const NamedTensor& input : part.feed) {
    const std::vector<TensorInfo> known = DescribeTensors(model, std::span(&input.name, 1));
    TensorInfo info{input.name, DType::kUndefined, ShapeFor(input.tensor, known[0], bodies)};
    info.dtype = known[0].dtype != DType::kUndefined ? known[0].dtype : input.tensor.dtype();
    plan.inputs.push_back(std::move(info));
  }
  for (const NamedTensor& output : part.expected) {
    TensorInfo info{output.name, DType::kUndefined, std::vector<Dim>()};
    for (const int64_t dim : output.tensor.dims()) info.shape->push_back({dim, {}});
    plan.outputs.push_back(std::move(info));
  }
  return plan;
}

// `folder` holds the model's weights, where they are not beside it.
Status SavePart(const OnnxModel& model, const ExtractPlan& plan, const std::string& folder,
                const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, ExtractModel(model, plan));
  VERNIER_ASSIGN_OR_RETURN(const int memory, ToMemfd(pieces));
  const UniqueFd owned(memory);
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::Open("/proc/self/fd/" + std::to_string(memory)));
  const std::span<const std::byte> bytes = file->bytes();
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel part,
                           OnnxModel::FromBytes(bytes, std::move(file), model.path()));
  SaveOnnxOptions options;
  options.source.directory = folder;
  return SaveOnnx(part, {}, path, options);
}

// Names come from a model that is not trusted: none may end the comment.
std::string Comment(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return "# " + text + "\n";
}

std::string BundleScript(const BlameRecord& found, const std::string& runner_words) {
  const BlameRecord record = WithSideNames(found, NameStyle::kShort);
  std::string text =
      "#!/bin/sh\n"
      "# The part of a model that is to blame, on its real inputs, against the outputs that the\n"
      "# reference computed. Exit code 1: the failure is there.\n";
  const BlameCulprit& culprit = record.culprits.front();
  text += Comment(culprit.node + " [" + culprit.op_type + "]: " + culprit.why);
  for (const RunnerRecord& runner : record.runners) {
    text += Comment(runner.name + ": " + runner.backend + " " + runner.framework_version + ", " +
                    runner.device + ", " + runner.precision);
  }
  text += Comment("vernier " + record.version + "; found by: " + record.command);
  text +=
      "cd \"$(dirname \"$0\")\" || exit 1\n"
      "exec ${VERNIER:-vernier} run model.onnx " +
      runner_words + " --load-inputs . --load-outputs . --tolerance auto \"$@\"\n";
  return text;
}

Status WriteTestData(const PartTensors& part, const std::string& folder) {
  VERNIER_ASSIGN_OR_RETURN(TestDataWriter inputs,
                           TestDataWriter::Create(folder, TestDataPart::kInputs));
  VERNIER_TRY(inputs.Append(part.feed));
  VERNIER_ASSIGN_OR_RETURN(TestDataWriter outputs,
                           TestDataWriter::Create(folder, TestDataPart::kOutputs));
  return outputs.Append(part.expected);
}

Status WriteRecord(const BlameRecord& record, const std::string& runner_words,
                   const std::string& folder) {
  // Not beside the test data: a folder with JSON files is taken for saved results.
  VERNIER_TRY(CreateDirectories(folder + "/found"));
  VERNIER_TRY(WriteFileAtomically(folder + "/found/blame.json", ToJson(record)));
  const std::string script = folder + "/" + kBundleScript;
  VERNIER_TRY(WriteFileAtomically(script, BundleScript(record, runner_words)));
  std::error_code error;
  fs::permissions(script, fs::perms::owner_exec | fs::perms::group_exec, fs::perm_options::add,
                  error);
  return error ? IoError("'" + script + "': " + error.message()) : Status();
}

}  // namespace

Status WriteBundle(const BundleRequest& request, const BlameGraph& graph,
                   const ReferenceSource& reference, std::span<const TensorMap> feeds,
                   const BlameRecord& record) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<const BlameLayerRecord*> layers,
                           LayersOfCulprit(record));
  const Boundary boundary = BoundaryOf(layers);
  const int64_t iteration = layers.front()->iteration;
  VERNIER_ASSIGN_OR_RETURN(
      const PartTensors part,
      FetchPart(boundary, reference, feeds[static_cast<size_t>(iteration)], iteration));
  VERNIER_ASSIGN_OR_RETURN(const BundleFolder folder, BundleFolder::Create(request.folder));
  // Into a new folder, which is the bundle once it is whole.
  VERNIER_TRY(CreateDirectories(folder.path()));
  VERNIER_ASSIGN_OR_RETURN(const bool bodies, HasBodies(graph, boundary));
  VERNIER_TRY(SavePart(graph.model(), PlanPart(graph.model(), part, bodies),
                       request.model->external_data_dir, folder.path() + "/model.onnx"));
  VERNIER_TRY(WriteTestData(part, folder.path()));
  VERNIER_TRY(WriteRecord(record, request.runner_words, folder.path()));
  return folder.Publish();
}

}  // namespace vernier
