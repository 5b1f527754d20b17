#include "run/comparison/inner_nans.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compare/functions/comparator.h"
#include "compare/functions/shared_non_finite.h"
#include "kernels/elements/tensor_elements.h"
#include "kernels/measures/magnitudes.h"
#include "run/live/inference_scheduler.h"
#include "util/values/joined.h"
#include "util/values/list_has.h"

namespace vernier {
namespace {

constexpr size_t kMostListed = 5;

// What the models declare; none where that is not known of one of them.
std::vector<std::string> OutputsOfModels(const InferenceScheduler& live) {
  std::vector<std::string> names;
  for (size_t i = 0; i < live.size(); ++i) {
    if (!live[i].alive() || !live[i].opened()) continue;
    const std::vector<std::string>& own = live[i].model().own_outputs;
    if (own.empty()) return {};
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

bool HoldsNan(const Tensor& tensor) { return MeasureMagnitudes(Elements(tensor)).nan_count > 0; }

}  // namespace

void InnerNans::LeaveOut(const CompareOptions& options, const ComparisonDetail& detail,
                         IterationComparison& comparison) {
  if (live_ == nullptr || !live_->any_marked() || comparison.passed()) return;
  const std::vector<std::string> own = OutputsOfModels(*live_);
  std::vector<OutputComparison*> inner;
  bool any = false;
  for (OutputComparison& output : comparison.outputs) {
    if (!ListHas(own, output.a_name) && !ListHas(own, output.b_name)) {
      inner.push_back(&output);
      continue;
    }
    if (HoldsNan(output.a) || HoldsNan(output.b)) return;
    any = true;
  }
  if (!any) return;
  for (OutputComparison* const output : inner) {
    if (!FailsAlike(*output)) continue;
    std::optional<TensorPair> rest = WithoutSharedNonFinite(output->a, output->aligned_b);
    if (!rest) continue;
    OutputComparison again = CompareOutputs({output->a_name, std::move(rest->a)},
                                            {output->b_name, std::move(rest->b)}, options, detail);
    again.how = output->how;
    if (!again.passed()) continue;
    *output = std::move(again);
    if (!ListHas(names_, "'" + output->a_name + "'")) names_.push_back("'" + output->a_name + "'");
  }
}

std::string InnerNans::Note() const {
  if (names_.empty()) return "";
  return "NaN in the same places on both sides of " + JoinedUpTo(names_, kMostListed) +
         " reaches no output, so only the other elements of " +
         (names_.size() == 1 ? "it" : "these") + " were compared";
}

}  // namespace vernier
