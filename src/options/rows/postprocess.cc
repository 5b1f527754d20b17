#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr OptionRow kPostprocess[] = {
    {.flags = {"--postprocess", "--postprocess-func"},
     .dest = "postprocess",
     .sets = Sets<&RunPlan::postprocess>(),
     .arity = Arity::kPlus,
     .metavar = "[NAME:]top-K[,axis=A]",
     .help = "Compare the indices of the K largest values instead of the outputs themselves.",
     .standing = Standing::kBetter,
     .note = "Unsigned types and bool are ordered by value.",
     .needs = {kTwoSides}},
    {.flags = {"--postprocess-func-script"},
     .dest = "postprocess_func_script",
     .sets = SetsScript<&RunPlan::postprocess_script>("postprocess_outputs"),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE[:FUNCTION]",
     .help = "A Python function (postprocess_outputs) that changes one iteration's outputs before"
             " they are compared.",
     .standing = Standing::kBetter,
     .note = "Runs in the Python of --python, without Polygraphy too."},
};

}  // namespace

OptionGroup PostprocessGroup() {
  return {"Post-processing", "changing outputs before they are compared", kPostprocess};
}

}  // namespace vernier
