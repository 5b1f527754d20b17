#include "surgeon/editable_model.h"

#include <unordered_set>
#include <utility>

#include "io/test_data/tensor_proto.h"
#include "model/edit/detached_weights.h"
#include "model/onnx/embedded_values.h"
#include "model/onnx/wire_patch.h"
#include "surgeon/graph_parts.h"
#include "util/text/number_text.h"

namespace vernier {

EditableModel::EditableModel(OnnxModel original, OnnxModel now, ExternalDataOptions external,
                             std::string prefix, bool ignore_weights)
    : original_(std::move(original)),
      now_(std::move(now)),
      external_(std::move(external)),
      prefix_(std::move(prefix)),
      ignore_weights_(ignore_weights) {
  external_.detached = prefix_;
}

Result<EditableModel> EditableModel::Open(const std::string& path,
                                          const ExternalDataOptions& external,
                                          bool ignore_weights) {
  VERNIER_ASSIGN_OR_RETURN(OnnxModel file, OnnxModel::Open(path));
  VERNIER_TRY(CheckEmbeddedValues(file));
  std::optional<ExternalDataReport> report;
  if (!ignore_weights) {
    VERNIER_ASSIGN_OR_RETURN(report, CheckExternalData(file, external));
  }
  VERNIER_ASSIGN_OR_RETURN(DetachedModel detached,
                           DetachWeights(file, report ? &*report : nullptr, external));
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(detached.bytes));
  VERNIER_ASSIGN_OR_RETURN(OnnxModel now, OnnxModel::FromBytes(*owner, owner, path));
  return EditableModel(std::move(file), std::move(now), external, std::move(detached.prefix),
                       ignore_weights);
}

Result<std::vector<ReplacedValues>> EditableModel::Weights() const {
  return AttachWeights(now_, original_, prefix_);
}

Result<Tensor> EditableModel::ValuesOf(const OnnxTensor& tensor) const {
  if (tensor.split) {
    return Unimplemented("tensor " + QuotePython(tensor.name) +
                         " is split into several parts, which cannot be read");
  }
  if (!tensor.external) {
    Result<NamedTensor> parsed =
        ParseTensorProto(std::as_bytes(std::span(tensor.bytes.data(), tensor.bytes.size())));
    if (parsed.ok()) return std::move(parsed->tensor);
    return std::move(parsed)
        .Annotate("'" + original_.path() + "': tensor " + QuotePython(tensor.name))
        .status();
  }
  if (tensor.location.starts_with(prefix_)) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<ReplacedValues> weights, Weights());
    for (const ReplacedValues& values : weights) {
      if (values.tensor.bytes.data() != tensor.bytes.data()) continue;
      const std::string_view bytes = values.values.pieces()[0].bytes;
      return Tensor::Wrap(tensor.dtype, tensor.dims,
                          std::as_bytes(std::span(bytes.data(), bytes.size())), original_.owner());
    }
  }
  if (ignore_weights_) {
    return Unimplemented("the values of " + QuotePython(tensor.name) +
                         " are needed, and --ignore-external-data leaves them out");
  }
  VERNIER_ASSIGN_OR_RETURN(const ExternalFolder folder,
                           ExternalFolder::Open(original_.path(), external_));
  VERNIER_ASSIGN_OR_RETURN(const ExternalFile file, folder.OpenFile(tensor.location));
  VERNIER_ASSIGN_OR_RETURN(ExternalSlice slice, LocateExternal(tensor, file.size()));
  BytePieces pieces;
  pieces.AddExternal(std::move(slice));
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, ToBytes(pieces, &folder));
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return Tensor::Wrap(tensor.dtype, tensor.dims, *owner, owner);
}

Result<BytePieces> EditableModel::WithWeights(const OnnxModel& part) const {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ReplacedValues> weights,
                           AttachWeights(part, original_, prefix_));
  std::vector<WirePatch> patches;
  for (const ReplacedValues& values : weights) VERNIER_TRY(PatchValues(values, patches));
  return ApplyPatches(part.bytes(), std::move(patches));
}

Status EditableModel::Save(const std::string& path, SaveOnnxOptions options,
                           std::vector<ReplacedValues> values,
                           std::vector<WirePatch> patches) const {
  std::unordered_set<const char*> given;
  for (const ReplacedValues& replaced : values) given.insert(replaced.tensor.bytes.data());
  VERNIER_ASSIGN_OR_RETURN(std::vector<ReplacedValues> weights, Weights());
  for (ReplacedValues& weight : weights) {
    if (!given.contains(weight.tensor.bytes.data())) values.push_back(std::move(weight));
  }
  options.source = external_;
  options.ignore_weights = ignore_weights_;
  options.values = values;
  VERNIER_TRY(original_.CheckIntact());
  return SaveOnnx(now_, std::move(patches), path, options);
}

Result<ExternalDataReport> EditableModel::CheckWeights() const {
  if (ignore_weights_) return ExternalDataReport();
  return CheckExternalData(now_, external_);
}

}  // namespace vernier
