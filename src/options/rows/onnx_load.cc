#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

Status SetOutputs(const OptionInput& input, ModelPlan& model) {
  VERNIER_TRY(ReadValue(input, model.outputs));
  // One word where the shell kept them together: `mark\ all`.
  if (model.outputs == std::vector<std::string>{"mark all"}) model.outputs = {"mark", "all"};
  return {};
}

constexpr OptionRow kLoad[] = {
    {.flags = {"--external-data-dir", "--load-external-data", "--ext"},
     .dest = "external_data_dir",
     .sets = Sets<&ModelPlan::external_data_dir>().OfRunner(),
     .files = FileUse::kUnchecked,
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help = "Folder of the model's external weights, if it is not the model's own folder."},
    {.flags = {"--ignore-external-data"},
     .dest = "ignore_external_data",
     .sets = Sets<&ModelPlan::ignore_external_data>().OfRunner(),
     .help = "Read only the model's structure, without its external weights."},
    {.flags = {"--onnx-outputs"},
     .dest = "onnx_outputs",
     .sets = SetBy<&SetOutputs, &ModelPlan::outputs>().OfRunner(),
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Replace the model's outputs by these tensors. Patterns (* ? [ ]) are allowed; '*' or"
             " mark all takes every tensor.",
     .standing = Standing::kBetter,
     .note = "Applies to every runner that reads the ONNX file except TensorRT; a tensor whose name"
             " holds brackets can be named."},
    {.flags = {"--onnx-exclude-outputs"},
     .dest = "onnx_exclude_outputs",
     .sets = Sets<&ModelPlan::exclude_outputs>().OfRunner(),
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Remove these tensors from the outputs, after all marking. Patterns are allowed."},
    {.flags = {"--onnx-outputs-by-type"},
     .dest = "onnx_outputs_by_type",
     .sets = Sets<&ModelPlan::outputs_by_type>().OfRunner(),
     .arity = Arity::kPlus,
     .metavar = "OPERATOR",
     .help = "Replace the model's outputs by those of all nodes with these operators, for example"
             " Conv Add."},
    {.flags = {"--fp-to-fp16"},
     .dest = "fp_to_fp16",
     .sets = Sets<&ModelPlan::fp_to_fp16>().OfRunner(),
     .help = "Convert the model's floating-point tensors to float16; inputs and outputs keep their"
             " types.",
     .standing = Standing::kBetter,
     .note =
         "Needs no package; bodies of If and Loop too, casts wherever types meet, weights of any"
         " size. Not to be confused with --fp16 of TensorRT."},
    {.flags = {"--mark-all"},
     .dest = "mark_all",
     .sets = Sets<&MarkWords::all>().OfRunner(),
     .in_api = InApi::kYes,
     .help = "Make every tensor an output, on every runner.",
     .origin = Origin::kOurs},
    {.flags = {"--exclude-outputs"},
     .dest = "exclude_outputs",
     .sets = Sets<&MarkWords::excluded>().OfRunner(),
     .in_api = InApi::kYes,
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Remove these tensors from the outputs of every runner.",
     .origin = Origin::kOurs},
    {.flags = {"--strict-external-data"},
     .dest = "strict_external_data",
     .sets = Sets<&ModelPlan::strict_external_data>().OfRunner(),
     .help = "Refuse external weights behind symbolic or hard links.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup OnnxLoadGroup() {
  return {"ONNX model loading", "loading ONNX models and choosing outputs", kLoad};
}

}  // namespace vernier
