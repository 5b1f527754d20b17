#include "run/script_comparison.h"

#include "compare/comparator.h"

namespace vernier {
namespace {

std::vector<std::string> Names(const TensorMap& outputs) {
  std::vector<std::string> names;
  for (const NamedTensor& output : outputs) names.push_back(output.name);
  return names;
}

OutputComparison FromVerdict(const ScriptVerdict& verdict, const IterationResult& a,
                             const IterationResult& b) {
  OutputComparison output;
  output.a_name = verdict.output;
  output.b_name = verdict.other;
  if (const Tensor* tensor = Find(a.outputs, verdict.output)) {
    output.a = *tensor;
    output.a_dtype = tensor->dtype();
    output.a_dims = tensor->dims();
  }
  if (const Tensor* tensor = Find(b.outputs, verdict.other)) {
    output.b = output.aligned_b = *tensor;
    output.b_dtype = tensor->dtype();
    output.b_dims = tensor->dims();
  }
  FunctionResult result;
  result.function = CompareFunction::kScript;
  result.verdict = verdict.passed ? Verdict::kMatched : Verdict::kMismatched;
  result.why = verdict.text;
  result.data = ScriptResult{verdict.json};
  output.functions.push_back(std::move(result));
  return output;
}

}  // namespace

Result<IterationComparison> CompareWithScript(ScriptClient& script, const IterationResult& a,
                                              const IterationResult& b, int64_t iteration) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ScriptVerdict> verdicts,
                           script.Compare(a, b, iteration));
  IterationComparison comparison;
  comparison.a_runner = a.runner_name;
  comparison.b_runner = b.runner_name;
  comparison.a_outputs = Names(a.outputs);
  comparison.b_outputs = Names(b.outputs);
  for (const ScriptVerdict& verdict : verdicts) {
    comparison.outputs.push_back(FromVerdict(verdict, a, b));
  }
  return comparison;
}

}  // namespace vernier
