#include <algorithm>

#include "inference/converting.h"
#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr std::string_view kConvertTitle = "Conversion", kConvertAbout = "what is read and written";
constexpr std::string_view kConvertTargets[] = {"onnx", "trt", "onnx-like-trt-network"};

Status SetTarget(const OptionInput& input, ConversionPlan& plan) {
  constexpr ConversionTarget kTargets[] = {ConversionTarget::kOnnx, ConversionTarget::kEngine,
                                           ConversionTarget::kOnnxLike};
  const auto* word = std::ranges::find(kConvertTargets, TextOf(input));
  plan.target = kTargets[word - kConvertTargets];
  return {};
}

constexpr OptionRow kConvert[] = {
    {.dest = "model_file",
     .sets = Sets<&ModelPlan::path>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "model_file",
     .help = "The model to convert."},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = Sets<&ConversionPlan::output>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .required = true,
     .metavar = "FILE",
     .help = "Where to write the converted model. The file appears only once it is complete."},
    {.flags = {"--convert-to"},
     .dest = "convert_to",
     .sets = SetBy<&SetTarget>(),
     .arity = Arity::kOne,
     .choices = kConvertTargets,
     .metavar = "FORMAT",
     .help =
         "What to write if the extension of FILE does not determine it: onnx, trt (an engine) or"
         " onnx-like-trt-network."},
};

constexpr OptionRow kConvertLenient[] = {
    {.flags = {"--lenient"},
     .dest = "lenient",
     .sets = Sets<&Leniency::lenient>(),
     .help =
         "With --fp-to-fp16: clamp weights beyond 10000 to 10000, as Polygraphy does, instead of"
         " keeping nodes with weights beyond 65504 in float32. Operators of"
         " --onnx-outputs-by-type that the model lacks are only reported. Enabled when the program"
         " is called polygraphy.",
     .origin = Origin::kOurs},
};

}  // namespace

std::vector<OptionGroup> ConvertGroup() {
  OptionGroup capability = TensorRtCapabilityGroup();
  capability.title = kConvertTitle;
  capability.about = kConvertAbout;
  return {{kConvertTitle, kConvertAbout, kConvert},
          capability,
          {kConvertTitle, kConvertAbout, kConvertLenient}};
}

}  // namespace vernier
