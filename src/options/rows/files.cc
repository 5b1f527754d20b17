#include "options/table/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kCompared[] = {
    {.dest = "files",
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
