#include "data/conversion.h"
#include "data/joining.h"
#include "data/recovery.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr std::string_view kDataKinds[] = {"inputs", "outputs"};
constexpr std::string_view kDataFormats[] = {"json", "npz", "npy", "safetensors", "pb"};

Status SetKind(const OptionInput& input, DataConversionPlan& plan) {
  plan.kind = TextOf(input) == "outputs" ? SavedKind::kOutputs : SavedKind::kInputs;
  return {};
}

constexpr OptionRow kDataFiles[] = {
    {.dest = "paths",
     .sets = Sets<&DataJoinPlan::paths>(),
     .files = FileUse::kReads,
     .arity = Arity::kPlus,
     .metavar = "paths",
     .help = "Files or folders of saved inputs or outputs: JSON, .npz, .npy, .safetensors, or ONNX"
             " test data."},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = Sets<&DataJoinPlan::output>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .required = true,
     .metavar = "FILE",
     .help = "The file to write: .npz, .safetensors, or JSON under any other name. It appears only"
             " once it is complete."},
};

constexpr OptionRow kDataConvert[] = {
    {.dest = "path",
     .sets = Sets<&DataConversionPlan::path>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "path",
     .help = "A file or folder of saved inputs or outputs, in any of the formats.",
     .origin = Origin::kOurs},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = Sets<&DataConversionPlan::output>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .required = true,
     .metavar = "PATH",
     .help =
         "What to write. Its extension determines the format: .npz, .safetensors, .npy (for exactly"
         " one tensor) or .json; without one it becomes a folder with one JSON file per"
         " iteration.",
     .origin = Origin::kOurs},
    {.flags = {"--format"},
     .dest = "format",
     .sets = Sets<&DataConversionPlan::format>(),
     .arity = Arity::kOne,
     .choices = kDataFormats,
     .metavar = "FORMAT",
     .help = "json, npz, npy, safetensors, or pb: a folder of ONNX test data, test_data_set_0 and"
             " so on. Not needed if the extension determines it.",
     .origin = Origin::kOurs},
    {.flags = {"--as"},
     .dest = "kind",
     .sets = SetBy<&SetKind>(),
     .arity = Arity::kOne,
     .choices = kDataKinds,
     .fallback = "what the file holds, or inputs if the file does not say",
     .metavar = "KIND",
     .help = "Write inputs (for --load-inputs) or outputs (for --load-outputs and compare).",
     .origin = Origin::kOurs},
    {.flags = {"--runner"},
     .dest = "runner",
     .sets = Sets<&DataConversionPlan::runner>(),
     .arity = Arity::kOne,
     .metavar = "NAME",
     .help = "For outputs: keep only this runner's. For inputs converted to outputs: the name to"
             " give their runner.",
     .origin = Origin::kOurs},
};

constexpr OptionRow kRecover[] = {
    {.dest = "path",
     .sets = Sets<&DataRecoveryPlan::path>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "path",
     .help = "The folder NAME.partial that a run left behind, or NAME itself.",
     .origin = Origin::kOurs},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = Sets<&DataRecoveryPlan::output>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .fallback = "NAME",
     .metavar = "PATH",
     .help = "Where to save; the extension determines the format.",
     .origin = Origin::kOurs},
    {.flags = {"--overwrite"},
     .dest = "overwrite",
     .sets = Sets<&DataRecoveryPlan::overwrite>(),
     .help = "Replace an older file of that name.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup DataFilesGroup() { return {"Files", "what is read and written", kDataFiles}; }

OptionGroup DataConvertGroup() { return {"Conversion", "what is read and written", kDataConvert}; }

OptionGroup DataRecoverGroup() { return {"Recovery", "what is read and written", kRecover}; }

}  // namespace vernier
