#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kTemplate[] = {
    {.flags = {"-o", "--output"},
     .dest = "output",
     .arity = Arity::kOne,
     .required = true,
     .metavar = "FILE",
     .help = "The file to write."},
};

constexpr OptionRow kCapability[] = {
    {.flags = {"--with-partitioning"},
     .dest = "with_partitioning",
     .help = "Cut the model where TensorRT's parser fails, and save the parts."},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .arity = Arity::kOne,
     .fallback = "polygraphy_capability_dumps",
     .metavar = "DIR",
     .help = "The folder for results.txt and the parts."},
};

}  // namespace

OptionGroup TemplateOptions() { return {"Script", "the file that is written", kTemplate}; }
OptionGroup CapabilityOptions() {
  return {"Capability", "what is found out and saved", kCapability};
}

}  // namespace vernier
