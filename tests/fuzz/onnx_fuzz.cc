// ONNX models: reading, inference of types, prediction of errors, and marking every tensor, whose
// result must be a model again.
#include "fuzz_target.h"
#include "model/edit/onnx_edit.h"
#include "model/edit/onnx_outputs.h"
#include "model/onnx/byte_pieces.h"
#include "model/onnx/onnx_model.h"
#include "model/onnx/wire_patch.h"
#include "model/rounding/error_model.h"

namespace vernier {
namespace {

void MarkEverything(const OnnxModel& model) {
  const auto names = MarkableTensors(model);
  if (names.empty()) return;
  const OutputEdit edit = EditOutputs(model, names);
  const auto pieces = ApplyPatches(model.bytes(), edit.patches);
  if (!pieces.ok()) return;
  const auto edited = ToBytes(*pieces);
  fuzz::Require(edited.ok(), "the edited model has bytes");
  const auto again = OnnxModel::FromBytes(*edited, nullptr, "edited");
  fuzz::Require(again.ok(), "a model with other outputs is a model");
  fuzz::Require(again->graph().outputs.size() == names.size(), "with the outputs asked for");
}

}  // namespace
}  // namespace vernier

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vernier;
  const auto model = OnnxModel::FromBytes(fuzz::Bytes(data, size), nullptr, "fuzz");
  if (!model.ok()) return 0;
  (void)model->RequiredInputs();
  (void)model->Outputs();
  for (const OnnxNode& node : model->graph().nodes) (void)model->Attributes(node);
  (void)PredictErrors(*model, {}, {}, {});
  MarkEverything(*model);
  return 0;
}
