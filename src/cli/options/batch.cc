#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kBatch[] = {
    {.dest = "models",
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
     .help = "Number of models to run at the same time; 0 means one per processor.",
     .origin = Origin::kOurs},
    {.flags = {"--log-dir"},
     .dest = "log_dir",
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help = "Save the output of each run in DIR/STEM.log.",
     .origin = Origin::kOurs},
    {.flags = {"--report"},
     .dest = "reports",
     .arity = Arity::kOne,
     .metavar = "FILE.xml",
     .help = "Write one JUnit report for all models together. After -- it is one for each model.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup BatchGroup() { return {"Batch", "running many models", kBatch}; }

}  // namespace vernier
