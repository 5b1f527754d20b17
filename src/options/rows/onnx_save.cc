#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "util/text/cast_grammar.h"

namespace vernier {
namespace {

Status SetSizeThreshold(const OptionInput& input, ModelPlan& model) {
  VERNIER_ASSIGN_OR_RETURN(const int64_t threshold, ParseByteCount(TextOf(input)));
  if (threshold < 0) {
    return InvalidArgument("--external-data-size-threshold: expected a size >= 0, got " +
                           std::to_string(threshold));
  }
  model.save_threshold_given = true;
  model.save_external_threshold = static_cast<uint64_t>(threshold);
  return {};
}

OptionWords SizeThresholdWords(const OptionRow& row, const ModelPlan& model) {
  if (!model.save_threshold_given) return {};
  return ValueWords(row, model.save_external_threshold);
}

constexpr OptionRow kSave[] = {
    {.flags = {"--save-onnx"},
     .dest = "save_onnx",
     .sets = Sets<&ModelPlan::save_path>(),
     .files = FileUse::kWrites,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save the ONNX model as it runs, with outputs marked or removed.",
     .standing = Standing::kBetter,
     .note = "Saving does not load the weights, so a model of any size can be saved.",
     .needs = {kAnyRunner}},
    {.flags = {"--save-external-data", "--external-data-path"},
     .dest = "external_data_path",
     .sets = Sets<&ModelPlan::save_external_data>(),
     .files = FileUse::kUnchecked,
     .arity = Arity::kOptional,
     .action = OptionAction::kAppend,
     .metavar = "FILE",
     .help =
         "Save weights in a file beside the saved model; by default its name is derived from the"
         " model's.",
     .needs = {"--save-onnx"}},
    {.flags = {"--external-data-size-threshold"},
     .dest = "external_data_size_threshold",
     .sets = SetBy<&SetSizeThreshold, &SizeThresholdWords>(),
     .arity = Arity::kOne,
     .fallback = "1024",
     .metavar = "BYTES",
     .help = "Tensors larger than this move to the external file; K, M and G are powers of 1024.",
     .needs = {"--save-external-data"}},
    {.flags = {"--no-save-all-tensors-to-one-file"},
     .dest = "all_tensors_to_one_file",
     .sets = Sets<&ModelPlan::save_one_file>(),
     .turns_off = true,
     .help = "Give every external tensor a file of its own.",
     .needs = {"--save-external-data"}},
};

constexpr OptionRow kInfer[] = {
    {.flags = {"--shape-inference", "--do-shape-inference"},
     .dest = "do_shape_inference",
     .sets = Sets<&ModelPlan::shape_inference>().OfRunner(),
     .help = "Infer the shapes of intermediate tensors when the model is loaded.",
     .standing = Standing::kBetter,
     .note = "By the onnx package of --python, which is given no weights."},
    {.flags = {"--no-onnxruntime-shape-inference"},
     .dest = "allow_onnxruntime",
     .sets = Sets<&ModelPlan::symbolic_inference>().OfRunner(),
     .turns_off = true,
     .help = "Do not use ONNX Runtime's symbolic tool to infer shapes.",
     .note = "Belongs to --shape-inference.",
     .needs = {"--shape-inference"}},
};

}  // namespace

OptionGroup OnnxSaveGroup() { return {"ONNX model saving", "saving ONNX models", kSave}; }

OptionGroup OnnxShapeInferenceGroup() {
  return {"ONNX shape inference", "inferring shapes in ONNX models", kInfer};
}

}  // namespace vernier
