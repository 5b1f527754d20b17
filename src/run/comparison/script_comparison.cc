#include "run/comparison/script_comparison.h"

#include <algorithm>

#include "compare/functions/comparator.h"
#include "compare/functions/vacuous.h"

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
  const Tensor* first = Find(a.outputs, verdict.output);
  const Tensor* second = Find(b.outputs, verdict.other);
  if (first != nullptr) {
    output.a = *first;
    output.a_dtype = first->dtype();
    output.a_dims = first->dims();
  }
  if (second != nullptr) {
    output.b = output.aligned_b = *second;
    output.b_dtype = second->dtype();
    output.b_dims = second->dims();
  }
  if (first != nullptr && second != nullptr) output.vacuous = VacuousBecause(*first, *second);
  FunctionResult result;
  result.function = CompareFunction::kScript;
  result.verdict = verdict.passed ? Verdict::kMatched : Verdict::kMismatched;
  result.why = verdict.text;
  result.data = ScriptResult{verdict.json};
  output.functions.push_back(std::move(result));
  return output;
}

bool IsStrange(const ScriptVerdict& verdict, const IterationResult& a, const IterationResult& b) {
  return Find(a.outputs, verdict.output) == nullptr && Find(b.outputs, verdict.output) == nullptr &&
         Find(b.outputs, verdict.other) == nullptr;
}

// Names without a verdict, of both sides in their order.
std::vector<std::string> WithoutVerdict(const IterationComparison& comparison) {
  std::vector<std::string> names;
  for (const std::vector<std::string>* side : {&comparison.a_outputs, &comparison.b_outputs}) {
    for (const std::string& name : *side) {
      const bool judged = std::any_of(comparison.outputs.begin(), comparison.outputs.end(),
                                      [&](const OutputComparison& output) {
                                        return output.a_name == name || output.b_name == name;
                                      });
      const bool known = std::find(names.begin(), names.end(), name) != names.end();
      if (!judged && !known) names.push_back(name);
    }
  }
  return names;
}

}  // namespace

Result<IterationComparison> CompareWithScript(ScriptClient& script, const IterationResult& a,
                                              const IterationResult& b, int64_t iteration,
                                              StrangeVerdicts strange) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ScriptVerdict> verdicts,
                           script.Compare(a, b, iteration));
  IterationComparison comparison;
  comparison.a_runner = a.runner_name;
  comparison.b_runner = b.runner_name;
  comparison.a_outputs = Names(a.outputs);
  comparison.b_outputs = Names(b.outputs);
  for (const ScriptVerdict& verdict : verdicts) {
    if (strange == StrangeVerdicts::kOnlyFailures && !verdict.type.empty()) {
      return BackendError(script.name() + ": its result for output '" + verdict.output +
                          "' is neither true nor false: it is " + verdict.type +
                          "; return a bool for each output");
    }
    const bool shows_nothing = verdict.passed && IsStrange(verdict, a, b);
    if (shows_nothing && strange == StrangeVerdicts::kOnlyFailures) continue;
    comparison.outputs.push_back(FromVerdict(verdict, a, b));
  }
  comparison.without_verdict = WithoutVerdict(comparison);
  return comparison;
}

}  // namespace vernier
