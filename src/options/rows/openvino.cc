#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr std::string_view kPrecisions[] = {
#define VERNIER_OV_PRECISION(word, name) #word,
#include "options/rows/openvino.def"
};

constexpr std::string_view kPrecisionHelp =
    "Inference precision, one of:"
#define VERNIER_OV_PRECISION(word, name) " " #word
#include "options/rows/openvino.def"
    " (OpenVINO's own choice). With f32, OpenVINO does not quantise anything by itself either.";

constexpr std::string_view kShapes[] = {
#define VERNIER_OV_SHAPES(word) #word,
#include "options/rows/openvino.def"
};

constexpr OptionRow kOpenVino[] = {
    {.flags = {"--openvino-precision"},
     .dest = "openvino_precision",
     .sets = SessionOption("openvino", "precision"),
     .arity = Arity::kOne,
     .choices = kPrecisions,
     .fallback = kPrecisions[0],
     .metavar = "TYPE",
     .help = kPrecisionHelp,
     .origin = Origin::kOurs},
    {.flags = {"--openvino-device"},
     .dest = "openvino_device",
     .sets = SessionOption("openvino", "device"),
     .arity = Arity::kOne,
     .fallback = "CPU",
     .metavar = "DEVICE",
     .help = "Device to compile for, as OpenVINO names it, for example CPU or GPU.1.",
     .origin = Origin::kOurs},
    {.flags = {"--openvino-shapes"},
     .dest = "openvino_shapes",
     .sets = SessionOption("openvino", "shapes"),
     .arity = Arity::kOne,
     .choices = kShapes,
     .fallback = kShapes[0],
     .metavar = "KIND",
     .help = "How to compile ONNX models with free dimensions. With dynamic, they stay free where"
             " OpenVINO can compile them so. With static, the model is compiled for the sizes of"
             " each feed, for which OpenVINO has other kernels, above all in int8.",
     .origin = Origin::kOurs},
    {.flags = {"--openvino-lib"},
     .dest = "openvino_lib",
     .sets = LoadOption("openvino", "lib"),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "The OpenVINO library to use instead of the one found.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup OpenVinoGroup() { return {"OpenVINO", "OpenVINO runners", kOpenVino, "--openvino"}; }

}  // namespace vernier
