#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "run/shards/shard_merge.h"

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
     .help = "Run only shard K of N (counted from 1) of the iterations, for `vernier merge`."
             " 'auto' takes both numbers from torchrun, MPI or Slurm; 'auto/N' takes K from them,"
             " or from a Kubernetes indexed Job. Saved files have the shard in their names:"
             " result.shard-0003-of-0007.json.",
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
     .help = "How iterations are divided: into 'contiguous' ranges, or by 'stride', every Nth.",
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
     .help = "With 'done', a shard that has run all of its iterations exits with 0 whatever it"
             " found, so that launchers do not start it again; `vernier merge` gives the verdict.",
     .origin = Origin::kOurs,
     .needs = {"--shard"},
     .spelled_out = true},
};

constexpr OptionRow kReproducible[] = {
    {.flags = {"--reproducible"},
     .dest = "reproducible",
     .sets = Sets<&SavePlan::reproducible>(),
     .in_package = InPackage::kNot,
     .help = "Leave times, hosts, the command line, absolute paths, and the time in names of"
             " runners out of records and reports, so that the same run has the same bytes.",
     .origin = Origin::kOurs,
     .spelled_out = true},
};

constexpr OptionRow kMerge[] = {
    {.dest = "paths",
     .sets = Sets<&MergePlan::parts>(),
     .files = FileUse::kReads,
     .arity = Arity::kPlus,
     .metavar = "part",
     .help = "The parts that shards wrote as --save-record, in any order.",
     .origin = Origin::kOurs},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = Sets<&MergePlan::output>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "The record to write or, with --partial, the part.",
     .origin = Origin::kOurs},
    {.flags = {"--partial"},
     .dest = "partial",
     .sets = Sets<&MergePlan::partial>(),
     .help = "Write one part from those given, for another merge: shards may be missing.",
     .origin = Origin::kOurs},
    {.flags = {"--mixed"},
     .dest = "mixed",
     .sets = Sets<&MergePlan::mixed>(),
     .help = "Accept parts whose runners differ in version, device, processor or number of "
             "threads; the record"
             " says so.",
     .origin = Origin::kOurs},
    {.flags = {"--status"},
     .dest = "status",
     .sets = Sets<&MergePlan::only_status>(),
     .help = "Only report which shards are done, begun (PART.partial) and missing, in how many"
             " iterations all outputs agree so far, and about how long the rest will take. The"
             " exit code is 0 if all shards are done, 4 if some are not, and 3 if their parts would"
             " not merge.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ShardGroup() { return {"Shards", "sharing a run between processes", kShards}; }

OptionGroup ReproducibleGroup() { return {"Reports", "records that are the same", kReproducible}; }

OptionGroup MergeGroup() { return {"Merging", "the parts of shards", kMerge}; }

}  // namespace vernier
