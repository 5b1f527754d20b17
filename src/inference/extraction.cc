#include "inference/extraction.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "report/models/model_text.h"
#include "surgeon/editable_model.h"
#include "surgeon/graph_parts.h"
#include "util/files/unique_fd.h"

namespace vernier {
namespace {

// The part as a model whose external data is still that of the original.
Result<OnnxModel> ReopenPart(const BytePieces& pieces, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const int memory, ToMemfd(pieces));
  const UniqueFd owned(memory);
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::Open("/proc/self/fd/" + std::to_string(memory)));
  const std::span<const std::byte> bytes = file->bytes();
  return OnnxModel::FromBytes(bytes, std::move(file), path);
}

Status ExtractFromFile(const OnnxModel& model, const ExtractionPlan& plan, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(
      EditableModel editable,
      EditableModel::Open(model.path(), plan.save.source, plan.save.ignore_weights));
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, ExtractModel(editable.now(), plan.extract));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ToBytes(pieces));
  VERNIER_ASSIGN_OR_RETURN(
      OnnxModel part,
      OwnModel({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, model.path()));
  LogModel("Original Model:", model, log);
  LogModel("New Model:", part, log);
  editable.Become(std::move(part));
  log.Info("Saving ONNX model to: " + plan.output);
  return editable.Save(plan.output, plan.save);
}

}  // namespace

Status ExtractPart(const OnnxModel& model, const ExtractionPlan& plan, Logger& log) {
  if (plan.as_in_file) return ExtractFromFile(model, plan, log);
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, ExtractModel(model, plan.extract));
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel part, ReopenPart(pieces, plan.path));
  LogModel("Original Model:", model, log);
  LogModel("New Model:", part, log);
  VERNIER_TRY(model.CheckIntact());
  log.Info("Saving ONNX model to: " + plan.output);
  return SaveOnnx(part, {}, plan.output, plan.save);
}

}  // namespace vernier
