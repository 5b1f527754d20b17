#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr OptionRow kBlame[] = {
    {.flags = {"--save-blame"},
     .dest = "save_blame",
     .sets = Sets<&BlameOptions::save>(),
     .files = FileUse::kWrites,
     .in_package = InPackage::kOfBlame,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save the findings of blame as JSON: culprits, the first value that is not finite,"
             " tensors that could not be examined, and every layer.",
     .origin = Origin::kOurs,
     .needs = {"--blame"}},
    {.flags = {"--bundle"},
     .dest = "bundle",
     .sets = Sets<&BlameOptions::bundle>(),
     .files = FileUse::kReplaces,
     .in_package = InPackage::kOfBlame,
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help = "Save the first culprit as a model of its own, with its real inputs, the outputs that"
             " the reference expects, and repro.sh, which reproduces the failure.",
     .origin = Origin::kOurs,
     .needs = {"--blame"}},
    {.flags = {"--on-flips"},
     .dest = "on_flips",
     .sets = Sets<&BlameOptions::on_flips>(),
     .in_package = InPackage::kOfBlame,
     .help = "Search with the inputs whose decisions flip, at most four iterations: clear flips"
             " first, the largest margins first. --decision says what is decided.",
     .origin = Origin::kOurs,
     .needs = {"--blame"}},
    {.flags = {"--max-host-mem"},
     .dest = "max_host_mem",
     .sets = Sets<&BlameOptions::max_host_bytes>(),
     .in_package = InPackage::kOfBlame,
     .arity = Arity::kOne,
     .fallback = "half of the free memory, but no more than 4G or eight times the memory of one"
                 " session, whichever is larger",
     .metavar = "BYTES",
     .help =
         "Memory that blame and its runners may use together, for example 4G; tensors that do not"
         " fit are examined in a further pass.",
     .origin = Origin::kOurs,
     .needs = {"--blame"}},
    {.flags = {"--max-gpu-mem"},
     .dest = "max_gpu_mem",
     .sets = Sets<&BlameOptions::max_gpu_bytes>(),
     .in_package = InPackage::kOfBlame,
     .arity = Arity::kOne,
     .metavar = "BYTES",
     .help = "The same limit for the device that the runners compute on.",
     .origin = Origin::kOurs,
     .needs = {"--blame"}},
};

// Not after a run, where --resume is about the run.
constexpr OptionRow kBlameAlone[] = {
    {.flags = {"--resume"},
     .dest = "resume",
     .sets = Sets<&BlameOptions::resume>(),
     .files = FileUse::kWrites,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help =
         "Save progress to FILE after each batch of tensors; the same command then continues from"
         " there.",
     .origin = Origin::kOurs},
};

constexpr OptionRow kRunAndBlame[] = {
    {.flags = {"--blame"},
     .dest = "blame",
     .sets = Sets<&RunCall::blames>(),
     .in_package = InPackage::kOfBlame,
     .help = "After the run, find the layer that is to blame, as vernier blame does.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup BlameGroup() { return {"Blame", "finding the layer that is to blame", kBlame}; }

OptionGroup BlameAloneGroup() {
  return {"Interrupted searches", "resuming a search for the layer", kBlameAlone};
}

OptionGroup RunAndBlameGroup() {
  return {"Blame after the run", "finding the layer that is to blame", kRunAndBlame};
}

}  // namespace vernier
