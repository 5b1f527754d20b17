#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr OptionRow kTemplate[] = {
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = Sets<&NewFile::path>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .required = true,
     .metavar = "FILE",
     .help = "The file to write."},
};

constexpr OptionRow kCapability[] = {
    {.flags = {"--with-partitioning"},
     .dest = "with_partitioning",
     .sets = kForPythonTool,
     .help = "Split the model where TensorRT's parser fails, and save the parts."},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = kForPythonTool,
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .fallback = "polygraphy_capability_dumps",
     .metavar = "DIR",
     .help = "The folder for results.txt and the parts."},
};

constexpr std::string_view kOnnxFirst =
    "TensorFlow models are refused: `vernier convert` makes an"
    " ONNX model of one, with these flags.";

constexpr OptionRow kTfTemplate[] = {
    {.flags = {"--ckpt"},
     .dest = "ckpt",
     .sets = Sets<&TensorFlowWords::checkpoint>(),
     .arity = Arity::kOne,
     .metavar = "NAME",
     .help = "Has no effect: TensorFlow models must be converted to ONNX first.",
     .standing = Standing::kRefused,
     .note = kOnnxFirst},
    {.flags = {"--tf-outputs"},
     .dest = "tf_outputs",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Has no effect: TensorFlow models must be converted to ONNX first.",
     .standing = Standing::kRefused,
     .note = kOnnxFirst},
    {.flags = {"--freeze-graph"},
     .dest = "freeze_graph",
     .help = "Has no effect: TensorFlow models must be converted to ONNX first.",
     .standing = Standing::kRefused,
     .note = kOnnxFirst},
    {.flags = {"--opset"},
     .dest = "opset",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "N",
     .help = "Has no effect: TensorFlow models must be converted to ONNX first.",
     .standing = Standing::kRefused,
     .note = kOnnxFirst},
};

}  // namespace

OptionGroup TensorFlowRefusedGroup() {
  return {"TensorFlow", "TensorFlow models (not supported here)", kTfTemplate};
}
OptionGroup TemplateGroup() { return {"Script", "the file that is written", kTemplate}; }
OptionGroup CapabilityGroup() {
  return {"Capability", "the parts of the model and where they are saved", kCapability};
}

}  // namespace vernier
