#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/table/parsed_args.h"
#include "session/run/extremes_session.h"

namespace vernier {
namespace {

constexpr std::string_view kSetNames[] = {"denormals", "zeros", "large", "nan", "inf", "limits"};

Status SetExtremes(const OptionInput& input, ExtremesPlan& plan) {
  VERNIER_ASSIGN_OR_RETURN(plan.sets, ChooseExtremeSets(input.given.values));
  plan.sets_named = true;
  return {};
}

constexpr OptionRow kExtremes[] = {
    {.flags = {"--sets", "--adversarial"},
     .dest = "sets",
     .sets = SetBy<&SetExtremes>(),
     .arity = Arity::kPlus,
     .choices = kSetNames,
     .fallback = "denormals zeros large nan inf",
     .metavar = "SET",
     .help =
         "Which sets of values to use: denormals, zeros (+0 and -0), large, nan, inf; limits (the"
         " smallest and the largest value of integer inputs, which models that take indices"
         " reject).",
     .origin = Origin::kOurs},
    {.flags = {"--strict"},
     .dest = "strict",
     .sets = Sets<&ExtremesPlan::strict>(),
     .help =
         "Also exit with code 1 if one runner flushes denormals to zero and another does not, if"
         " one gives NaN where another gives Inf, for Inf of opposite signs, for finite values"
         " more than 1 % apart, and for integers, booleans and strings that are not equal.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ExtremesCheckGroup() {
  return {"Extreme values", "which values the inputs get", kExtremes};
}

}  // namespace vernier
