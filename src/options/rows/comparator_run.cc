#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/table/parsed_args.h"

namespace vernier {
namespace {

Status SetKept(const OptionInput& input, MarkWords& marks) {
  marks.kept = input.given.values;
  return {};
}

constexpr OptionRow kRun[] = {
    {.flags = {"--warm-up"},
     .dest = "warm_up",
     .sets = SetsNumber<&ExecutionPlan::warm_up>(),
     .in_api = InApi::kYes,
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "0",
     .metavar = "NUM",
     .help = "Number of untimed runs of the first input, per runner.",
     .standing = Standing::kBetter,
     .note = "Does not need --sequential-runners."},
    {.flags = {"--warm-up-runs"},
     .dest = "warm_up",
     .sets = SetsNumber<&ExecutionPlan::warm_up>(),
     .in_api = InApi::kYes,
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "NUM",
     .help = "Same as --warm-up.",
     .origin = Origin::kOurs},
    {.flags = {"--use-subprocess"},
     .dest = "use_subprocess",
     .sets = Sets<&ExecutionPlan::use_subprocess>(),
     .help = "Give every runner a process of its own, even runners of the same framework.",
     .standing = Standing::kBetter,
     .note = "Frameworks always run in workers; does not need --sequential-runners."},
    {.flags = {"--save-inputs", "--save-input-data"},
     .dest = "save_inputs_path",
     .sets = Saves<&SavePlan::inputs>(),
     .arity = Arity::kOptional,
     .constant = "inputs.json",
     .metavar = "PATH",
     .help = "Save the inputs: as one file (JSON, .npz or .safetensors) if PATH has an extension,"
             " otherwise as a folder with one file per iteration. Without PATH: inputs.json, in"
             " --output-dir if given.",
     .standing = Standing::kBetter,
     .note = "May be given without a value; .npz and .safetensors too; a file is replaced only by a"
             " complete one.",
     .wider_than_polygraphy = true,
     .needs = {kAnyRunner}},
    {.flags = {"--save-input-blob"},
     .dest = "save_input_blob_path",
     .sets = Saves<&SavePlan::input_blobs>(),
     .arity = Arity::kOptional,
     .constant = ".",
     .metavar = "DIR",
     .help = "Save each input tensor as raw bytes, DIR/<iteration>/<name>.bin. Without DIR: the"
             " current folder.",
     .needs = {kAnyRunner}},
    {.flags = {"--save-outputs", "--save-results"},
     .dest = "save_outputs_path",
     .sets = Saves<&SavePlan::outputs>(),
     .in_api = InApi::kYes,
     .arity = Arity::kOptional,
     .constant = "outputs.json",
     .metavar = "PATH",
     .help = "Save the outputs of all runners, with the same rules as --save-inputs. Without PATH:"
             " outputs.json.",
     .standing = Standing::kBetter,
     .note = "May be given without a value; .npz and .safetensors too; a file is replaced only by a"
             " complete one.",
     .wider_than_polygraphy = true,
     .needs = {kAnyRunner}},
    {.flags = {"--output-file"},
     .dest = "save_outputs_path",
     .sets = Saves<&SavePlan::outputs>(),
     .in_api = InApi::kYes,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Same as --save-outputs FILE.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--resume"},
     .dest = "resume_run",
     .sets = Sets<&SavePlan::resume>(),
     .in_package = InPackage::kNot,
     .elsewhere = kOnlyProgram,
     .help =
         "Continue from what an earlier run of the same command saved with --save-outputs, at the"
         " first missing iteration, even after kill -9, Ctrl-C or a full disk. Saved iterations"
         " are compared again but not run again, except for the first and the last of each runner,"
         " which must give the same outputs. A shard also needs --save-outputs for this, because"
         " its part does not contain the outputs.",
     .origin = Origin::kOurs,
     .needs = {"--save-outputs", "--save-intermediate-outputs", "--save-all-intermediate-outputs"}},
    {.flags = {"--output-dir"},
     .dest = "output_dir",
     .sets = Sets<&ResultFolder::path>(),
     .files = FileUse::kWritesInto,
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help =
         "Folder for the results of the run: record.json, report.html and run.log (unless"
         " --save-record, --report and --log-file name others), inputs.json and outputs.json if"
         " --save-inputs and --save-outputs are given, and pictures, reports and results that are"
         " named without a folder.",
     .origin = Origin::kOurs},
    {.flags = {"--save-intermediate-outputs"},
     .dest = "save_intermediate_outputs",
     .sets = SetBy<&SetKept>(),
     .arity = Arity::kStar,
     .metavar = "NAME",
     .help = "Mark these tensors as outputs on every runner (all tensors if none is named) and save"
             " them.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--save-all-intermediate-outputs"},
     .dest = "save_all_intermediate_outputs",
     .sets = Sets<&MarkWords::keeps_all>(),
     .help = "Mark every tensor as an output on every runner, and save them.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
};

}  // namespace

OptionGroup ComparatorRunGroup() {
  return {"Inference", "running the model and saving tensors", kRun};
}

}  // namespace vernier
