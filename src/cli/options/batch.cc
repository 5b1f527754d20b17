#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kBatch[] = {
    {.dest = "models",
     .arity = Arity::kPlus,
     .metavar = "model",
     .help = "Models: files, folders, or quoted patterns such as 'models/*.onnx'.",
     .origin = Origin::kOurs},
    {.flags = {"--jobs"},
     .dest = "jobs",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1",
     .metavar = "N",
     .help = "So many models at the same time; 0 for one a processor.",
     .origin = Origin::kOurs},
    {.flags = {"--log-dir"},
     .dest = "log_dir",
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help = "Keep what each run printed, in DIR/STEM.log.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup BatchGroup() { return {"Batch", "running many models", kBatch}; }

}  // namespace vernier
