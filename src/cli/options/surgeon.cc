#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kExtract[] = {
    {.flags = {"--inputs"},
     .dest = "input_meta",
     .arity = Arity::kStar,
     .metavar = "NAME:SHAPE:DTYPE",
     .help = "Tensors that the part begins with, for example x:[1,3,224,224]:float32; auto for a"
             " shape or type that the model says. Default: the model's inputs."},
    {.flags = {"--outputs"},
     .dest = "output_meta",
     .arity = Arity::kPlus,
     .metavar = "NAME:DTYPE",
     .help = "Tensors that the part ends with, for example y:float32 or y:auto. Default: the"
             " model's outputs."},
    {.flags = {"--model-input-shapes", "--model-inputs"},
     .dest = "model_input_shapes",
     .arity = Arity::kPlus,
     .metavar = "NAME:SHAPE",
     .help =
         "Shapes of the whole model's inputs, for example x:[1,3,224,224]. The shapes of tensors"
         " that are auto and that the model does not declare follow from them, operator by"
         " operator, and where no rule is known from one inference of ONNX Runtime."},
    {.flags = {"--force-fallback-shape-inference"},
     .dest = "force_fallback_shape_inference",
     .help = "Find shapes out in that way also where the model declares others, such as symbolic"
             " ones. Dynamic dimensions become static.",
     .excludes = {"do_shape_inference"}},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .arity = Arity::kOne,
     .required = true,
     .metavar = "FILE",
     .help = "The model to write."},
};

}  // namespace

OptionGroup ExtractOptions() { return {"Extraction", "cutting a part out of a model", kExtract}; }

}  // namespace vernier
