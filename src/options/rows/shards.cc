#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "run/shards/shard_merge.h"

namespace vernier {
namespace {

constexpr std::string_view kShardRules[] = {"contiguous", "stride"};
constexpr std::string_view kShardExits[] = {"verdict", "done"};

Status SetShardRule(const OptionInput& input, ShardWords& words) {
  words.rule = TextOf(input) == "stride" ? ShardRule::kStride : ShardRule::kContiguous;
  return {};
}

Status SetShardExit(const OptionInput& input, ShardWords& words) {
  words.ends_done = TextOf(input) == "done";
  return {};
}

OptionWords ShardRuleWords(const OptionRow& row, const ShardWords& words) {
  return ChoiceWords(row, static_cast<size_t>(words.rule));
}

OptionWords ShardExitWords(const OptionRow& row, const ShardWords& words) {
  return ChoiceWords(row, words.ends_done ? 1 : 0);
}

// What is shared is iterations or, of a batch, models.
constexpr OptionRow ShardRow(std::string_view help) {
  return {.flags = {"--shard"},
          .dest = "shard",
          .sets = Sets<&ShardWords::shard>(),
          .in_package = InPackage::kNot,
          .arity = Arity::kOne,
          .metavar = "K/N",
          .help = help,
          .origin = Origin::kOurs,
          .spelled_out = true};
}

constexpr OptionRow ShardRuleRow(std::string_view help) {
  return {.flags = {"--shard-by"},
          .dest = "shard_by",
          .sets = SetBy<&SetShardRule, &ShardRuleWords>(),
          .in_package = InPackage::kNot,
          .arity = Arity::kOne,
          .choices = kShardRules,
          .fallback = "contiguous",
          .metavar = "RULE",
          .help = help,
          .origin = Origin::kOurs,
          .needs = {"--shard"},
          .spelled_out = true};
}

constexpr OptionRow ShardExitRow(std::string_view help) {
  return {.flags = {"--shard-exit"},
          .dest = "shard_exit",
          .sets = SetBy<&SetShardExit, &ShardExitWords>(),
          .in_package = InPackage::kNot,
          .arity = Arity::kOne,
          .choices = kShardExits,
          .fallback = "verdict",
          .metavar = "WHEN",
          .help = help,
          .origin = Origin::kOurs,
          .needs = {"--shard"},
          .spelled_out = true};
}

constexpr OptionRow kShards[] = {
    ShardRow("Run only shard K of N (counted from 1) of the iterations, for `vernier merge`."
             " 'auto' takes both numbers from torchrun, MPI or Slurm; 'auto/N' takes K from them,"
             " or from a Kubernetes indexed Job. Saved files have the shard in their names:"
             " result.shard-0003-of-0007.json."),
    ShardRuleRow(
        "How iterations are divided: into 'contiguous' ranges, or by 'stride', every Nth."),
    ShardExitRow("With 'done', a shard that has run all of its iterations exits with 0 whatever it"
                 " found, so that launchers do not start it again; `vernier merge` gives the"
                 " verdict."),
};

constexpr OptionRow kModelShards[] = {
    ShardRow("Run only shard K of N (counted from 1) of the models, in the order given; the"
             " matches of a pattern are sorted by name. 'auto' takes both numbers from torchrun,"
             " MPI or Slurm; 'auto/N' takes K from them, or from a Kubernetes indexed Job. The"
             " report has the shard in its name: report.shard-0003-of-0007.xml."),
    ShardRuleRow("How models are divided: into 'contiguous' ranges, or by 'stride', every Nth."),
    ShardExitRow("With 'done', a shard that has run all of its models exits with 0 even if outputs"
                 " differ or less was compared than requested, so that launchers do not start it"
                 " again. The table and the report have the verdicts."),
};

constexpr OptionRow kReproducible[] = {
    {.flags = {"--reproducible"},
     .dest = "reproducible",
     .sets = Sets<&SavePlan::reproducible>(),
     .in_package = InPackage::kNot,
     .help = "Leave times, hosts, the command line, absolute paths, and the time in names of"
             " runners out of records and reports, so that the same run writes the same bytes.",
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
     .help = "Merge the given parts into one part, for a later merge; shards may be missing.",
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
             " iterations all outputs agree so far, and about how long the rest will take. The exit"
             " code is 0 if all shards are done, 4 if some are not, and 3 if their parts do not fit"
             " together.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ShardGroup() { return {"Shards", "sharing a run between processes", kShards}; }

OptionGroup ModelShardGroup() {
  return {"Shards", "sharing the models between processes", kModelShards};
}

OptionGroup ReproducibleGroup() { return {"Reports", "records that are the same", kReproducible}; }

OptionGroup MergeGroup() { return {"Merging", "the parts of shards", kMerge}; }

}  // namespace vernier
