#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kMaps[] = {
    {.flags = {"--map-inputs"},
     .dest = "map_inputs",
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[RUNNER:]NAME=SOURCE",
     .help = "Feed a runner's input NAME with the tensor SOURCE of the inputs, which may be sliced"
             " as in NumPy, have its axes permuted, or both: jit:x=input[:,64:] tf:x=x@0,2,3,1."
             " RUNNER:NAME= does not give the runner that tensor. @FILE reads such words from a"
             " file, one a line.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--map-outputs"},
     .dest = "map_outputs",
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[A:[B:]]NAME=SOURCE",
     .help = "Compare the output NAME of A with the output SOURCE of B, which may be sliced and"
             " permuted as in --map-inputs. A:NAME= leaves out an output that A lacks. @FILE reads"
             " such words from a file, one a line.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup MapGroup() {
  return {"Names", "pairing inputs and outputs that formats call differently", kMaps};
}

}  // namespace vernier
