#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr std::string_view kSetNames[] = {"denormals", "zeros", "large", "nan", "inf", "limits"};

constexpr OptionRow kExtremes[] = {
    {.flags = {"--sets", "--adversarial"},
     .dest = "sets",
     .arity = Arity::kPlus,
     .choices = kSetNames,
     .fallback = "denormals zeros large nan inf",
     .metavar = "SET",
     .help =
         "Which sets of values: denormals, zeros (+0 and -0), large, nan, inf; limits (the smallest"
         " and the largest value of integer inputs, which models of indices refuse).",
     .origin = Origin::kOurs},
    {.flags = {"--strict"},
     .dest = "strict",
     .help =
         "Denormals that one runner flushes to zero and another does not are exit code 1 too, and"
         " so are NaN where another has Inf, Inf of the other sign, finite values that are more "
         "than"
         " 1 % apart, and integers, booleans and strings that are not equal.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ExtremesCheckGroup() { return {"Extreme values", "what is put in", kExtremes}; }

}  // namespace vernier
