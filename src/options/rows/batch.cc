#include <string_view>

#include "options/table/groups.h"

namespace vernier {
namespace {

constexpr std::string_view kModelShardRules[] = {"contiguous", "stride"};
constexpr std::string_view kModelShardExits[] = {"verdict", "done"};

constexpr OptionRow kBatch[] = {
    {.dest = "models",
     .files = FileUse::kReadsModels,
     .arity = Arity::kPlus,
     .metavar = "model",
     .help = "Models: files, folders that are a model (a SavedModel), or quoted patterns such as"
             " 'models/*.onnx'. Other folders are not searched.",
     .origin = Origin::kOurs},
    {.flags = {"--jobs"},
     .dest = "jobs",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1",
     .metavar = "N",
     .help = "Number of models to run at the same time; 0 means one per processor"
             " that this process may use.",
     .origin = Origin::kOurs},
    {.flags = {"--log-dir"},
     .dest = "log_dir",
     .files = FileUse::kWritesInto,
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help = "Save the output of each run in DIR/STEM.log.",
     .origin = Origin::kOurs},
    {.flags = {"--shard"},
     .dest = "shard",
     .arity = Arity::kOne,
     .metavar = "K/N",
     .help = "Run only shard K of N (counted from 1) of the models, in the order given; the"
             " matches of a pattern are sorted by name. 'auto' takes both numbers from torchrun,"
             " MPI or Slurm; 'auto/N' takes K from them, or from a Kubernetes indexed Job. The"
             " report has the shard in its name: report.shard-0003-of-0007.xml.",
     .origin = Origin::kOurs,
     .spelled_out = true},
    {.flags = {"--shard-by"},
     .dest = "shard_by",
     .arity = Arity::kOne,
     .choices = kModelShardRules,
     .fallback = "contiguous",
     .metavar = "RULE",
     .help = "How models are divided: into 'contiguous' ranges, or by 'stride', every Nth.",
     .origin = Origin::kOurs,
     .needs = {"--shard"},
     .spelled_out = true},
    {.flags = {"--shard-exit"},
     .dest = "shard_exit",
     .arity = Arity::kOne,
     .choices = kModelShardExits,
     .fallback = "verdict",
     .metavar = "WHEN",
     .help = "With 'done', a shard that has run all of its models exits with 0 even if outputs"
             " differ or less was compared than requested, so that launchers do not start it again."
             " The table and the report have the verdicts.",
     .origin = Origin::kOurs,
     .needs = {"--shard"},
     .spelled_out = true},
    {.flags = {"--report"},
     .dest = "reports",
     .files = FileUse::kWrites,
     .arity = Arity::kOne,
     .metavar = "FILE.xml",
     .help = "Write one JUnit report for all models together. --report after -- writes one for each"
             " model.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup BatchGroup() { return {"Batch", "running many models", kBatch}; }

}  // namespace vernier
