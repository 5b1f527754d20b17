#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr std::string_view kShown[] = {"layers", "attrs", "weights"};
constexpr std::string_view kDisplayAs[] = {"trt"};

constexpr OptionRow kInspect[] = {
    {.flags = {"--convert-to", "--display-as"},
     .dest = "display_as",
     .arity = Arity::kOne,
     .choices = kDisplayAs,
     .metavar = "FORMAT",
     .help = "Convert the model before it is shown.",
     .standing = Standing::kLater,
     .note = "Refused: a graph is shown as it is."},
    {.flags = {"--show"},
     .dest = "show",
     .arity = Arity::kPlus,
     .choices = kShown,
     .metavar = "WHAT",
     .help = "layers: each node with its tensors; attrs: with its attributes; weights: values of"
             " initializers, and of constants among the attributes."},
};

}  // namespace

OptionGroup InspectOptions() { return {"Inspection", "what is shown of the model", kInspect}; }

}  // namespace vernier
