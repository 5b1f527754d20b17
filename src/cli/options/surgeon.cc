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
