#include "run/profile/profile_accuracy.h"

#include <string>
#include <vector>

#include "util/number_text.h"

namespace vernier {
namespace {

void AddOutput(const OutputComparison& output, ProfileAccuracy& accuracy) {
  ++accuracy.outputs;
  accuracy.elements += output.a.element_count();
  accuracy.vacuous += output.vacuous.empty() ? 0 : 1;
  const FunctionResult* function = output.Find(CompareFunction::kSimple);
  const auto* simple = function == nullptr ? nullptr : std::get_if<SimpleResult>(&function->data);
  const bool failed = !output.passed();
  const double over = simple == nullptr ? 0 : simple->times_over();
  if (simple != nullptr) {
    const double largest = simple->difference.absolute.max;
    const bool worse = largest != largest || largest > accuracy.max_absolute_error;
    if (worse) accuracy.max_absolute_error = largest;
  }
  const bool worst = accuracy.outputs == 1 || over > accuracy.times_over_tolerance ||
                     (failed && accuracy.failed == 0);
  accuracy.failed += failed;
  if (!worst) return;
  accuracy.times_over_tolerance = over;
  accuracy.worst_output = output.a_name;
  if (failed) {
    accuracy.why = "output '" + output.a_name + "'" +
                   (simple != nullptr ? ": " + FormatG(over, 3) + " times over tolerance"
                                      : ": it cannot be compared");
  }
}

}  // namespace

ProfileAccuracy AccuracyOf(const IterationComparison& comparison, bool may_be_alone) {
  ProfileAccuracy accuracy;
  for (const OutputComparison& output : comparison.outputs) AddOutput(output, accuracy);
  std::vector<std::string> alone = comparison.pairing.left_only;
  alone.insert(alone.end(), comparison.pairing.right_only.begin(),
               comparison.pairing.right_only.end());
  const bool lacking = accuracy.outputs == 0 || (!alone.empty() && !may_be_alone);
  accuracy.compared = accuracy.failed > 0 || !lacking;
  accuracy.passed = accuracy.compared && accuracy.failed == 0;
  if (accuracy.compared) return accuracy;
  accuracy.why = alone.empty() && !comparison.not_logits.empty()
                     ? "--compare logits is for none of the outputs"
                     : "no counterpart of " + FormatPythonList(alone);
  return accuracy;
}

}  // namespace vernier
