#include <algorithm>

#include "inference/inspection.h"
#include "options/table/document_format.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr std::string_view kShown[] = {"layers", "attrs", "weights", "stats"};
constexpr std::string_view kDisplayAs[] = {"trt"};

Status SetShown(const OptionInput& input, InspectionPlan& plan) {
  std::vector<std::string> words;
  VERNIER_TRY(ReadValue(input, words));
  const auto shows = [&](const char* word) { return std::ranges::count(words, word) > 0; };
  plan.parts.layers = shows("layers");
  plan.parts.attributes = shows("attrs");
  plan.parts.weights = shows("weights");
  plan.parts.statistics = shows("stats");
  return {};
}

// "trt" is the only word.
Status SetNetwork(const OptionInput&, InspectionPlan& plan) {
  plan.as_network = true;
  return {};
}

constexpr OptionRow kInspect[] = {
    {.flags = {"--convert-to", "--display-as"},
     .dest = "display_as",
     .sets = SetBy<&SetNetwork>(),
     .arity = Arity::kOne,
     .choices = kDisplayAs,
     .metavar = "FORMAT",
     .help = "trt: show the network that TensorRT's parser creates from an ONNX model. Needs the"
             " Python package tensorrt."},
    {.flags = {"--show"},
     .dest = "show",
     .sets = SetBy<&SetShown>(),
     .arity = Arity::kPlus,
     .choices = kShown,
     .own_choices = 1,
     .metavar = "WHAT",
     .help =
         "layers: each node with its tensors; attrs: with its attributes too; weights: values of"
         " initializers and of constants in attributes; stats: their statistics. For an engine:"
         " layers; attrs adds origins and tactics."},
    {.flags = {"--layer"},
     .dest = "layer",
     .sets = Sets<&InspectionPlan::layer>(),
     .arity = Arity::kOne,
     .metavar = "NAME",
     .help =
         "Show only this node, named by itself or by a tensor that it produces, with its"
         " attributes, the types of its tensors and the statistics of its weights; with a runner"
         " or --load-outputs, also the statistics of its tensors' values.",
     .origin = Origin::kOurs},
    {.flags = {"--list-unbounded-dds"},
     .dest = "list_unbounded_dds",
     .sets = Sets<&InspectionPlan::unbounded_sizes>(),
     .help = "List tensors whose values determine a size and that have no upper bound."},
    {.flags = {"--combine-tensor-info"},
     .dest = "combine_tensor_info",
     .sets = Sets<&InspectionPlan::tensor_ranges>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help =
         "Add to an engine's layers the smallest, largest and mean value of their tensors, from a"
         " file that --save-outputs wrote (with --mark-unfused-tensors-as-debug-tensors). Needs"
         " --show layers."},
    DocumentFormatRow("json: print the whole structure, and nothing else, as one JSON document;"
                      " --show adds attributes and the layers of an engine."),
    {.flags = {"--visual"},
     .dest = "visual",
     .sets = Sets<&InspectionPlan::draws>(),
     .help = "Write an HTML page that draws the graph: one file, which opens without a network"
             " connection.",
     .standing = Standing::kBetter,
     .note = "No server is started and nothing is loaded from elsewhere."},
    {.flags = {"--visual-port"},
     .dest = "visual_port",
     .sets = Sets<&InspectionPlan::port>(),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "PORT",
     .help = "Has no effect: the page is a file.",
     .standing = Standing::kRefused,
     .note = "A warning: there is no server."},
    {.flags = {"--save-visual"},
     .dest = "save_visual",
     .sets = Sets<&InspectionPlan::page>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .fallback = "STEM.html, in the current folder",
     .metavar = "FILE",
     .help = "Path of that page. Implies --visual.",
     .standing = Standing::kBetter,
     .note = "Needs no --visual."},
};

constexpr OptionRow kDocument[] = {
    DocumentFormatRow("json: print the whole report, and nothing else, as one JSON document."),
};

}  // namespace

OptionGroup DocumentGroup() { return {"Output", "how it is shown", kDocument}; }

OptionGroup InspectGroup() { return {"Inspection", "what is shown of the model", kInspect}; }

}  // namespace vernier
