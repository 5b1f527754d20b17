#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kLoad[] = {
    {.flags = {"--external-data-dir", "--load-external-data", "--ext"},
     .dest = "external_data_dir",
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help = "Folder of the model's external weights, if it is not the model's own folder."},
    {.flags = {"--ignore-external-data"},
     .dest = "ignore_external_data",
     .help = "Read only the model's structure, without its external weights."},
    {.flags = {"--onnx-outputs"},
     .dest = "onnx_outputs",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Replace the model's outputs by these tensors. Patterns (* ? [ ]) are allowed; '*' or"
             " mark all takes every tensor.",
     .standing = Standing::kBetter,
     .note = "Applies to every runner that reads the ONNX file except TensorRT; a tensor whose name"
             " holds brackets can be named."},
    {.flags = {"--onnx-exclude-outputs"},
     .dest = "onnx_exclude_outputs",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Remove these tensors from the outputs, after all marking. Patterns are allowed."},
    {.flags = {"--onnx-outputs-by-type"},
     .dest = "onnx_outputs_by_type",
     .arity = Arity::kPlus,
     .metavar = "OPERATOR",
     .help = "Replace the model's outputs by those of all nodes with these operators, for example"
             " Conv Add."},
    {.flags = {"--fp-to-fp16"},
     .dest = "fp_to_fp16",
     .help = "Convert the model's floating-point tensors to float16; inputs and outputs keep their"
             " types.",
     .standing = Standing::kBetter,
     .note =
         "Needs no package; bodies of If and Loop too, casts wherever types meet, weights of any"
         " size. Not to be confused with --fp16 of TensorRT."},
    {.flags = {"--mark-all"},
     .dest = "mark_all",
     .help = "Make every tensor an output, on every runner.",
     .origin = Origin::kOurs},
    {.flags = {"--exclude-outputs"},
     .dest = "exclude_outputs",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Remove these tensors from the outputs of every runner.",
     .origin = Origin::kOurs},
    {.flags = {"--strict-external-data"},
     .dest = "strict_external_data",
     .help = "Refuse external weights behind symbolic or hard links.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup OnnxLoadGroup() {
  return {"ONNX model loading", "loading ONNX models and choosing outputs", kLoad};
}

}  // namespace vernier
