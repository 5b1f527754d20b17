#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr std::string_view kModelTypes[] = {
    "frozen", "keras", "ckpt", "onnx", "engine", "uff", "trt-network-script", "caffe"};

constexpr OptionRow kModel[] = {
    {.dest = "model_file",
     .sets = Sets<&ModelPlan::path>().OfRunner(),
     .files = FileUse::kReads,
     .arity = Arity::kOptional,
     .metavar = "model_file",
     .help = "The model, for example model.onnx. A network script may name its function after a"
             " colon.",
     .standing = Standing::kBetter,
     .note = "A path that exists is taken as it is, colons included."},
    {.flags = {"--model-type"},
     .dest = "model_type",
     .sets = Sets<&ModelPlan::type>().OfRunner(),
     .arity = Arity::kOne,
     .choices = kModelTypes,
     .metavar = "TYPE",
     .help =
         "The model's type, if its name does not determine it: frozen, keras, ckpt, onnx, engine,"
         " uff, trt-network-script or caffe.",
     .standing = Standing::kBetter,
     .note = "The content of a file is looked at too; uff and caffe are read with TensorRT 8."},
    {.flags = {"--input-shapes", "--inputs"},
     .dest = "input_shapes",
     .sets = Sets<&FeedWords::shapes>(),
     .arity = Arity::kPlus,
     .metavar = "NAME:SHAPE",
     .help =
         "Shapes of generated inputs, for example image:[1,3,224,224] ids:[1,16]. Several shapes"
         " for one input are used in turn, one per iteration: x:[1,3] x:[8,3], or with braces"
         " x:[{1,8},3]. Braces with the same text vary together; all others are combined in every"
         " way. Dimensions that share a name in the model share one size, so inputs that are not"
         " named here follow those that are.",
     .standing = Standing::kBetter,
     .note = "Several shapes for one input, also written with braces, make the iterations cycle"
             " through them; inputs that are not named have the same sizes under the same names of"
             " dimensions; a shape that cannot be applied is an error unless --lenient is"
             " given."},
    {.flags = {"--dim"},
     .dest = "dims",
     .sets = Sets<&FeedWords::dims>().OfRunner(),
     .arity = Arity::kPlus,
     .metavar = "NAME=SIZE",
     .help =
         "Sizes of dynamic dimensions by name, in every input that has them: sequence=16 batch=2."
         " A dimension without a name is INPUT[AXIS]. All others are 1 or, if the model does not"
         " run with that or makes an empty output, the first size found that works.",
     .origin = Origin::kOurs},
    {.flags = {"--onnx-graphsurgeon"},
     .dest = "onnx_graphsurgeon",
     .sets = Sets<&ModelPlan::print_summary>(),
     .help = "Print a summary of the graph (inputs, outputs, operators, constants) before running.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ModelGroup() { return {"Model", "the model and its inputs' shapes", kModel}; }

}  // namespace vernier
