#include "images/preprocess.h"
#include "inputs/value_ranges.h"
#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr std::string_view kModules[] = {"numpy", "torch"};

// Words that make no sense end the run here, before any framework loads.
Status SetRanges(const OptionInput& input, InputPlan& inputs) {
  VERNIER_TRY(ReadValue(input, inputs.range_words));
  return input.context.lenient ? ParseValueRanges(inputs.range_words).status()
                               : CheckValueRanges(inputs.range_words);
}

Status SetNumbersModule(const OptionInput& input, InputPlan& inputs) {
  inputs.torch_numbers = TextOf(input) == "torch";
  return {};
}

OptionWords NumbersModuleWords(const OptionRow& row, const InputPlan& inputs) {
  return ChoiceWords(row, inputs.torch_numbers ? 1 : 0);
}

// So do these, before an image is looked for.
Status SetPreprocess(const OptionInput& input, InputPlan& inputs) {
  inputs.preprocess = TextOf(input);
  return ParsePreprocess(inputs.preprocess).status();
}

constexpr OptionRow kInputs[] = {
    {.flags = {"--seed"},
     .dest = "seed",
     .sets = Sets<&InputPlan::seed>(),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1",
     .metavar = "SEED",
     .help = "Seed of generated inputs; iteration i uses SEED + i.",
     .needs = {kAnyRunner}},
    {.flags = {"--val-range"},
     .dest = "val_range",
     .sets = SetBy<&SetRanges, &InputPlan::range_words>().OneEach(),
     .arity = Arity::kPlus,
     .fallback = "[0,1]",
     .metavar = "[NAME:][MIN,MAX]",
     .help = "Range of generated values, for all inputs or one, for example [0,1] ids:[0,999].",
     .standing = Standing::kBetter,
     .note = "A range for an input that the model lacks, or beyond the input's type, is an error"
             " unless --lenient is given.",
     .needs = {kAnyRunner}},
    {.flags = {"--iterations", "--iters"},
     .dest = "iterations",
     .sets = SetsNumber<&InputPlan::iterations>(),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1",
     .metavar = "NUM",
     .help = "How many feeds to generate.",
     .needs = {kAnyRunner}},
    {.flags = {"--data-loader-backend-module"},
     .dest = "data_loader_backend_module",
     .sets = SetBy<&SetNumbersModule, &NumbersModuleWords>(),
     .arity = Arity::kOne,
     .choices = kModules,
     .fallback = "numpy",
     .metavar = "MODULE",
     .help = "Which module generates random numbers: numpy or torch.",
     .standing = Standing::kBetter,
     .note = "The same numbers for the same torch and seed, drawn by the Python of --python; its"
             " floats are in --val-range too, which Polygraphy leaves out."},
    {.flags = {"--inputs-from-graph"},
     .dest = "inputs_from_graph",
     .sets = Sets<&InputPlan::from_graph>(),
     .help =
         "Draw integers from the range that the ONNX graph requires: indices, positions, lengths,"
         " masks, sizes. Each range is logged with its reason.",
     .origin = Origin::kOurs,
     .excludes = {"load_inputs_paths", "data_loader_script"}},
    {.flags = {"--like"},
     .dest = "like",
     .sets = Sets<&InputPlan::like>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help =
         "Draw each input from the distribution of a real sample: the first iteration of any file"
         " that --load-inputs reads.",
     .origin = Origin::kOurs,
     .excludes = {"load_inputs_paths", "data_loader_script"}},
    {.flags = {"--load-inputs", "--load-input-data"},
     .dest = "load_inputs_paths",
     .sets = Sets<&InputPlan::load_paths>(),
     .files = FileUse::kReads,
     .in_api = InApi::kYes,
     .arity = Arity::kPlus,
     .metavar = "PATH",
     .help = "Read inputs from files, folders or patterns: JSON, .npz, .npy, .safetensors, an ONNX"
             " test data folder, or PNG and JPEG images, one per iteration.",
     .standing = Standing::kBetter,
     .note = "More formats; an input whose name, type or rank does not fit is an error unless"
             " --lenient is given.",
     .excludes = {"data_loader_script"}},
    {.flags = {"--input-file"},
     .dest = "load_inputs_paths",
     .sets = Sets<&InputPlan::load_paths>(),
     .files = FileUse::kReads,
     .in_api = InApi::kYes,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Short for --load-inputs with one file.",
     .origin = Origin::kOurs,
     .excludes = {"data_loader_script"}},
    {.flags = {"--preprocess"},
     .dest = "preprocess",
     .sets = SetBy<&SetPreprocess, &InputPlan::preprocess>(),
     .arity = Arity::kOne,
     .metavar = "WORD[,WORD...]",
     .help =
         "Steps that turn an image into an input. They always run in this order, whatever order you"
         " give: rgb, bgr or gray; resize=N (the shorter side) or resize=HxW; crop (in the middle,"
         " to the model's size), crop=N or crop=HxW; scale=X; mean=X[,X,X]; std=X[,X,X];"
         " layout=nchw or layout=nhwc.",
     .origin = Origin::kOurs,
     .needs = {"--load-inputs"}},
    {.flags = {"--max-image-pixels"},
     .dest = "max_image_pixels",
     .sets = SetsNumber<&InputPlan::max_image_pixels>(),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "100000000",
     .metavar = "NUM",
     .help = "Skip images with more pixels than this, without decoding them.",
     .origin = Origin::kOurs,
     .needs = {"--load-inputs"}},
    {.flags = {"--data-loader-script"},
     .dest = "data_loader_script",
     .sets = SetsScript<&InputPlan::script>("load_data"),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE[:FUNCTION]",
     .help = "A Python function (load_data) that yields inputs by name.",
     .standing = Standing::kBetter,
     .note = "Runs in the Python of --python, without Polygraphy too; feeds are streamed, and"
             " --timeout holds for each.",
     .excludes = {"load_inputs_paths"}},
    {.flags = {"--data-loader-func-name"},
     .dest = "data_loader_func_name",
     .sets = Sets<&FeedWords::function>(),
     .in_api = InApi::kYes,
     .arity = Arity::kOne,
     .metavar = "NAME",
     .help = "The function's name in --data-loader-script, when it is not load_data.",
     .origin = Origin::kOurs,
     .needs = {"--data-loader-script"}},
};

}  // namespace

OptionGroup DataLoaderGroup() { return {"Inputs", "making or loading input data", kInputs}; }

}  // namespace vernier
