#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kSession[] = {
    {.flags = {"--providers", "--execution-providers"},
     .dest = "providers",
     .arity = Arity::kPlus,
     .fallback = "cpu",
     .metavar = "PROVIDER",
     .help = "ONNX Runtime execution providers in order of preference, by name or part of a name."},
    {.flags = {"--graph-optimization-level"},
     .dest = "graph_optimization_level",
     .arity = Arity::kOne,
     .fallback = "ORT_ENABLE_ALL",
     .metavar = "LEVEL",
     .help = "ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED or ORT_ENABLE_ALL."},
    {.flags = {"--onnxrt-lib"},
     .dest = "onnxrt_lib",
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "The ONNX Runtime library to use instead of the one found.",
     .origin = Origin::kOurs},
    {.flags = {"--intra-op-threads"},
     .dest = "intra_op_threads",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "CPUs that this process may use",
     .metavar = "N",
     .help = "Threads inside one operator.",
     .origin = Origin::kOurs},
    {.flags = {"--inter-op-threads"},
     .dest = "inter_op_threads",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "CPUs that this process may use",
     .metavar = "N",
     .help = "Threads across operators.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup OnnxRuntimeGroup() {
  return {"ONNX Runtime session", "ONNX Runtime's session", kSession, "--onnxrt"};
}

}  // namespace vernier
