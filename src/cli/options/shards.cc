#include "cli/option_values.h"
#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr std::string_view kShardRules[] = {"contiguous", "stride"};
constexpr std::string_view kShardExits[] = {"verdict", "done"};

constexpr OptionRow kShards[] = {
    {.flags = {"--shard"},
     .dest = "shard",
     .sets = kBoundTogether,
     .in_package = InPackage::kNot,
     .arity = Arity::kOne,
     .metavar = "K/N",
     .help =
         "Do the share K of N (from 1) of the iterations, for `vernier merge`. 'auto' takes both"
         " from torchrun, MPI or Slurm; 'auto/N' takes K from them, or from a Kubernetes indexed"
         " Job. What is saved has the shard in its name: result.shard-0003-of-0007.json.",
     .origin = Origin::kOurs,
     .spelled_out = true},
    {.flags = {"--shard-by"},
     .dest = "shard_by",
     .sets = kBoundTogether,
     .in_package = InPackage::kNot,
     .arity = Arity::kOne,
     .choices = kShardRules,
     .fallback = "contiguous",
     .metavar = "RULE",
     .help = "Which iterations a shard has: 'contiguous' ranges, or by 'stride' every Nth.",
     .origin = Origin::kOurs,
     .needs = {"--shard"},
     .spelled_out = true},
    {.flags = {"--shard-exit"},
     .dest = "shard_exit",
     .sets = kBoundTogether,
     .in_package = InPackage::kNot,
     .arity = Arity::kOne,
     .choices = kShardExits,
     .fallback = "verdict",
     .metavar = "WHEN",
     .help = "With 'done' a shard that has done its part ends with 0 whatever it found, so that"
             " launchers do not start it again: the verdict is that of `vernier merge`.",
     .origin = Origin::kOurs,
     .needs = {"--shard"},
     .spelled_out = true},
};

constexpr OptionRow kReproducible[] = {
    {.flags = {"--reproducible"},
     .dest = "reproducible",
     .sets = Sets<&SavePlan::reproducible>(),
     .in_package = InPackage::kNot,
     .help = "Leave times, hosts, the words of the command, absolute paths, and the time in names"
             " of runners out of records and reports: the same run gives the same bytes.",
     .origin = Origin::kOurs,
     .spelled_out = true},
};

constexpr OptionRow kMerge[] = {
    {.dest = "paths",
     .files = FileUse::kReads,
     .arity = Arity::kPlus,
     .metavar = "part",
     .help = "What --shard wrote for --save-record, in any order.",
     .origin = Origin::kOurs},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Where the record goes, or with --partial the part.",
     .origin = Origin::kOurs},
    {.flags = {"--partial"},
     .dest = "partial",
     .help = "Write one part of those that are there, for another merge: some may be missing.",
     .origin = Origin::kOurs},
    {.flags = {"--mixed"},
     .dest = "mixed",
     .help = "Take parts of runners whose versions or devices differ; the record says so.",
     .origin = Origin::kOurs},
    {.flags = {"--status"},
     .dest = "status",
     .help = "Only report which shards are done, begun (PART.partial) and missing, and in how many"
             " iterations so far all outputs agree, and about how long the rest will take; 0 if all"
             " shards are done, else 4.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ShardGroup() { return {"Shards", "sharing a run between processes", kShards}; }

OptionGroup ReproducibleGroup() { return {"Reports", "records that are the same", kReproducible}; }

OptionGroup MergeGroup() { return {"Merging", "the parts of shards", kMerge}; }

}  // namespace vernier
