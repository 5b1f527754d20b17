#include "options/table/groups.h"

namespace vernier {
namespace {

constexpr std::string_view kDoctorFormats[] = {"text", "json"};

constexpr OptionRow kDoctor[] = {
    {.flags = {"--format"},
     .dest = "format",
     .arity = Arity::kOne,
     .choices = kDoctorFormats,
     .fallback = "text",
     .metavar = "FORMAT",
     .help = "text or json.",
     .origin = Origin::kOurs},
    {.flags = {"--require"},
     .dest = "require",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Exit with code 5 if one of these parts cannot be used: names as doctor prints them,"
             " such as onnxruntime, numpy or gpu. If a backend has the same name as a package,"
             " python/torch is the package.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup DoctorGroup() { return {"Doctor", "looking at this installation", kDoctor}; }

}  // namespace vernier
