#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr std::string_view kTargets[] = {"onnx", "trt", "onnx-like-trt-network"};

constexpr OptionRow kConvert[] = {
    {.dest = "model_file",
     .arity = Arity::kOne,
     .metavar = "model_file",
     .help = "The model to convert."},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .arity = Arity::kOne,
     .required = true,
     .metavar = "FILE",
     .help = "Where to write the converted model. It appears only once it is whole."},
    {.flags = {"--convert-to"},
     .dest = "convert_to",
     .arity = Arity::kOne,
     .choices = kTargets,
     .metavar = "FORMAT",
     .help = "What to write when the extension of FILE does not tell: onnx, trt (an engine) or"
             " onnx-like-trt-network."},
    {.flags = {"--engine-capability"},
     .dest = "engine_capability",
     .arity = Arity::kOne,
     .metavar = "CAPABILITY",
     .help =
         "What the engine may use: standard, safety or dla_standalone. Default: TensorRT's own."},
    {.flags = {"--lenient"},
     .dest = "lenient",
     .help =
         "With --fp-to-fp16: weights beyond 10000 become 10000, as Polygraphy has it, instead of"
         " those beyond 65504 keeping their nodes in float32. On when the program is called"
         " polygraphy.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ConvertGroup() { return {"Conversion", "what is read and written", kConvert}; }

}  // namespace vernier
