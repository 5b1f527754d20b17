// Which weights of a model are 2:4 sparse.
#include "cli/commands/commands.h"
#include "cli/commands/sparsity.h"
#include "cli/commands/surgery.h"
#include "surgeon/sparse_weights.h"

namespace vernier {
namespace {

Status Inspect(const ParsedArgs& args, ConsoleLog& log) {
  VERNIER_ASSIGN_OR_RETURN(const Surgery surgery, Surgery::Open(args, log));
  VERNIER_TRY(FindSparseWeights(surgery.model(), log).status());
  return surgery.model().original().CheckIntact();
}

}  // namespace

Result<std::unordered_set<std::string_view>> FindSparseWeights(const EditableModel& model,
                                                               Logger& log) {
  std::unordered_set<std::string_view> sparse;
  const std::vector<PrunableWeight> weights = FindPrunableWeights(model.now(), {}, log);
  const std::string count = std::to_string(weights.size());
  log.Start("Checking the sparsity pattern of " + count + " tensors.");
  for (const PrunableWeight& weight : weights) {
    VERNIER_ASSIGN_OR_RETURN(const Tensor values, model.ValuesOf(*weight.tensor));
    const std::string name(weight.tensor->name);
    if (IsSparse(values, weight.axis)) {
      sparse.insert(weight.tensor->name);
      log.Info("Found sparse tensor: " + name);
    } else {
      log.Warning("Found non-sparse tensor: " + name);
    }
  }
  log.Finish("Finished checking " + count + " tensors. ");
  return sparse;
}

int InspectSparsityCommand(std::span<const std::string> words, const Invocation& invocation) {
  return RunModelTool("inspect sparsity", Inspect, true, words, invocation);
}

}  // namespace vernier
