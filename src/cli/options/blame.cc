#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kBlame[] = {
    {.flags = {"--save-blame"},
     .dest = "save_blame",
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save what blame found as JSON: culprits, the first value that is not finite, tensors"
             " that could not be looked at, and every layer.",
     .origin = Origin::kOurs,
     .needs = {"--blame"}},
    {.flags = {"--bundle"},
     .dest = "bundle",
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help = "Save the first culprit as a model of its own, with its real inputs, the outputs that"
             " the reference expects, and repro.sh, which shows the failure.",
     .origin = Origin::kOurs,
     .needs = {"--blame"}},
    {.flags = {"--max-host-mem"},
     .dest = "max_host_mem",
     .arity = Arity::kOne,
     .fallback = "half of what is free, at most 4G or what eight sessions take",
     .metavar = "BYTES",
     .help = "Memory that blame and its runners may hold together, for example 4G; tensors that do"
             " not fit are looked at in a further pass.",
     .origin = Origin::kOurs,
     .needs = {"--blame"}},
    {.flags = {"--max-gpu-mem"},
     .dest = "max_gpu_mem",
     .arity = Arity::kOne,
     .metavar = "BYTES",
     .help = "The same on the device that the runners compute on.",
     .origin = Origin::kOurs,
     .needs = {"--blame"}},
};

// Not after a run, where --resume is about the run.
constexpr OptionRow kBlameAlone[] = {
    {.flags = {"--resume"},
     .dest = "resume",
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Keep what was found in FILE after each batch of tensors; the same command goes on"
             " from there.",
     .origin = Origin::kOurs},
};

constexpr OptionRow kRunAndBlame[] = {
    {.flags = {"--blame"},
     .dest = "blame",
     .help = "Find out which layer is to blame after the run, as vernier blame does.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup BlameGroup() { return {"Blame", "finding the layer that is to blame", kBlame}; }

OptionGroup BlameAloneGroup() {
  return {"Interrupted searches", "going on with a search for the layer", kBlameAlone};
}

OptionGroup RunAndBlameGroup() {
  return {"Blame after the run", "finding the layer that is to blame", kRunAndBlame};
}

}  // namespace vernier
