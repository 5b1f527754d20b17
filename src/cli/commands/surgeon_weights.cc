// Weights made sparse, taken out of a model, and put back as stand-ins.
#include <set>

#include "cli/commands/model_tool.h"
#include "cli/table/commands.h"
#include "options/table/option_sets.h"
#include "surgeon/weight_tools.h"

namespace vernier {
namespace {

Status Save(const ToolModel& opened, const ReplacedWeights& weights, Logger& log) {
  return opened.Save(log, weights.Of(opened.model().now()));
}

Status Prune(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  VERNIER_ASSIGN_OR_RETURN(ToolModel opened, ToolModel::Open(args, invocation.as_polygraphy, log));
  opened.LogSummary("Original Model:", log);
  VERNIER_ASSIGN_OR_RETURN(const ReplacedWeights pruned, PruneWeights(opened.model(), log));
  return Save(opened, pruned, log);
}

Status Strip(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  WeightStripPlan plan;
  VERNIER_TRY(BindOptions(args, {.log = &log}, {plan}));
  VERNIER_ASSIGN_OR_RETURN(std::set<std::string> exclude, ReadExcludeList(plan));
  VERNIER_ASSIGN_OR_RETURN(ToolModel opened, ToolModel::Open(args, invocation.as_polygraphy, log));
  opened.LogSummary("Original Model:", log);
  VERNIER_TRY(StripWeights(opened.model(), std::move(exclude), log));
  return opened.Save(log);
}

Status Reconstruct(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  VERNIER_ASSIGN_OR_RETURN(ToolModel opened, ToolModel::Open(args, invocation.as_polygraphy, log));
  opened.LogSummary("Original Model:", log);
  VERNIER_ASSIGN_OR_RETURN(const ReplacedWeights made, ReconstructWeights(opened.model(), log));
  return Save(opened, made, log);
}

int SurgeonPruneCommand(std::span<const std::string> words, const Invocation& invocation) {
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) {
    return Prune(args, invocation, log);
  };
  return RunModelTool(kSurgeonPruneCommand, work, true, words, invocation);
}

int SurgeonWeightStripCommand(std::span<const std::string> words, const Invocation& invocation) {
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) {
    return Strip(args, invocation, log);
  };
  return RunModelTool(kSurgeonWeightStripCommand, work, true, words, invocation);
}

int SurgeonWeightReconstructCommand(std::span<const std::string> words,
                                    const Invocation& invocation) {
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) {
    return Reconstruct(args, invocation, log);
  };
  return RunModelTool(kSurgeonWeightReconstructCommand, work, true, words, invocation);
}

}  // namespace

constexpr CommandSpec kSurgeonPruneCommand = {
    .name = "surgeon prune",
    .section = CommandSection::kModels,
    .operands = "model_file -o FILE [options ...]",
    .summary = "make the weights of an ONNX model 2:4 sparse, to try sparse kernels",
    .about =
        "Set the two values of smallest magnitude of every four weights of Conv, Gemm and MatMul"
        " to zero. This is for trying sparse kernels: the model loses its accuracy.",
    .options = [] { return OptionTable({SurgeonOptions({})}); },
    .run = SurgeonPruneCommand,
};

constexpr CommandSpec kSurgeonWeightReconstructCommand = {
    .name = "surgeon weight-reconstruct",
    .section = CommandSection::kModels,
    .operands = "model_file -o FILE [options ...]",
    .summary = "fill the weights that weight-strip removed with random values",
    .about =
        "Fill the initializers that weight-strip emptied with random values, which are the same"
        " each time. Those that were 2:4 sparse become sparse again.",
    .options = [] { return OptionTable({SurgeonOptions({})}); },
    .run = SurgeonWeightReconstructCommand,
};

constexpr CommandSpec kSurgeonWeightStripCommand = {
    .name = "surgeon weight-strip",
    .section = CommandSection::kModels,
    .operands = "model_file -o FILE [options ...]",
    .summary = "write an ONNX model without its weights, for refittable engines",
    .about =
        "Empty the weights of Conv, ConvTranspose, Gemm, MatMul, Gather, Slice and of operators"
        " outside the ONNX standard, and mark them for TensorRT. Fold constants first.",
    .options = [] { return OptionTable({SurgeonOptions(WeightStripGroup())}); },
    .run = SurgeonWeightStripCommand,
};

}  // namespace vernier
