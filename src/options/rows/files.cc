#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/table/parsed_args.h"
#include "options/table/saved_sides.h"

namespace vernier {
namespace {

Status AddFiles(const OptionInput& input, RunPlan& plan) {
  for (const std::string& file : input.given.values) AddSavedSide(file, plan);
  return {};
}

constexpr OptionRow kCompared[] = {
    {.dest = "files",
     .sets = SetBy<&AddFiles>(),
     .files = FileUse::kReadsSides,
     .arity = Arity::kPlus,
     .metavar = "file",
     .help = "[LABEL=]FILE: files or folders of saved outputs: JSON, .npz, .npy, .safetensors, or "
             "ONNX test data."
             " One file is enough when it holds several runners.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ComparedFilesGroup() { return {"Files", "what is compared", kCompared}; }

}  // namespace vernier
