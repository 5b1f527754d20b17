#include "options/table/groups.h"

namespace vernier {
namespace {

constexpr std::string_view kDataKinds[] = {"inputs", "outputs"};
constexpr std::string_view kDataFormats[] = {"json", "npz", "npy", "safetensors", "pb"};

constexpr OptionRow kDataFiles[] = {
    {.dest = "paths",
     .files = FileUse::kReads,
     .arity = Arity::kPlus,
     .metavar = "paths",
     .help = "Files or folders of saved inputs or outputs: JSON, .npz, .npy, .safetensors, or ONNX"
             " test data."},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .required = true,
     .metavar = "FILE",
     .help = "The file to write: .npz, .safetensors, or JSON under any other name. It appears only"
             " once it is complete."},
};

constexpr OptionRow kDataConvert[] = {
    {.dest = "path",
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "path",
     .help = "A file or folder of saved inputs or outputs, in any of the formats.",
     .origin = Origin::kOurs},
    {.flags = {"-o", "--output"},
     .dest = "output",
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
     .arity = Arity::kOne,
     .choices = kDataFormats,
     .metavar = "FORMAT",
     .help = "json, npz, npy, safetensors, or pb: a folder of ONNX test data, test_data_set_0 and"
             " so on. Not needed if the extension determines it.",
     .origin = Origin::kOurs},
    {.flags = {"--as"},
     .dest = "kind",
     .arity = Arity::kOne,
     .choices = kDataKinds,
     .fallback = "what the file holds, or inputs if the file does not say",
     .metavar = "KIND",
     .help = "Write inputs (for --load-inputs) or outputs (for --load-outputs and compare).",
     .origin = Origin::kOurs},
    {.flags = {"--runner"},
     .dest = "runner",
     .arity = Arity::kOne,
     .metavar = "NAME",
     .help = "For outputs: keep only this runner's. For inputs converted to outputs: the name to"
             " give their runner.",
     .origin = Origin::kOurs},
};

constexpr std::string_view kShowFormats[] = {"text", "json"};

constexpr OptionRow kShow[] = {
    {.dest = "path",
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "path",
     .help = "A file or folder of saved inputs, outputs or accuracy results."},
    {.flags = {"-a", "--all"}, .dest = "all", .help = "Show all iterations, not only the first."},
    {.flags = {"-s", "--show-values"}, .dest = "show_values", .help = "Show the values."},
    {.flags = {"--histogram"}, .dest = "histogram", .help = "Show how the values are distributed."},
    {.flags = {"-n", "--num-items"},
     .dest = "num_items",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "3",
     .metavar = "NUM",
     .help = "How many values to show at each end of an axis, in arrays of more than 1000 elements;"
             " -1 shows all."},
    {.flags = {"--line-width"},
     .dest = "line_width",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "75",
     .metavar = "NUM",
     .help = "Characters in a line of values; -1 breaks lines only at the ends of axes."},
    {.flags = {"--format"},
     .dest = "format",
     .arity = Arity::kOne,
     .choices = kShowFormats,
     .fallback = "text",
     .metavar = "FORMAT",
     .help = "json: runners, iterations and tensors with their statistics as one JSON document on"
             " stdout, and nothing else.",
     .origin = Origin::kOurs},
};

constexpr OptionRow kRecover[] = {
    {.dest = "path",
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "path",
     .help = "The folder NAME.partial that a run left behind, or NAME itself.",
     .origin = Origin::kOurs},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .fallback = "NAME",
     .metavar = "PATH",
     .help = "Where to save; the extension determines the format.",
     .origin = Origin::kOurs},
    {.flags = {"--overwrite"},
     .dest = "overwrite",
     .help = "Replace an older file of that name.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup DataFilesGroup() { return {"Files", "what is read and written", kDataFiles}; }

OptionGroup DataConvertGroup() { return {"Conversion", "what is read and written", kDataConvert}; }

OptionGroup DataShowGroup() { return {"What is shown", "how much is shown", kShow}; }

OptionGroup DataRecoverGroup() { return {"Recovery", "what is read and written", kRecover}; }

}  // namespace vernier
