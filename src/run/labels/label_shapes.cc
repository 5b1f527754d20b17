// Arrays of labels have the order of the samples, or are refused.
#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "decide/kinds/class_rows.h"
#include "run/labels/sample_labels.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// What has one entry makes no other order.
Dims LongAxes(std::span<const int64_t> dims) {
  Dims axes(dims.begin(), dims.end());
  std::erase(axes, 1);
  return axes;
}

bool HasAxes(const Dims& dims) { return LongAxes(dims).size() > 1; }

// The axes of the samples of one output.
Dims AxesOfSamples(const Dims& output, size_t class_axis) {
  Dims axes = output;
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(class_axis));
  return axes;
}

// Of all iterations: these are one behind the other along the first axis of the samples, or along
// one of their own before it.
bool IsOfAll(const Dims& labels, const Dims& samples) {
  const Dims behind = LongAxes(std::span(labels).subspan(1));
  const size_t first = std::min<size_t>(samples.size(), 1);
  return behind == LongAxes(samples) || behind == LongAxes(std::span(samples).subspan(first));
}

}  // namespace

bool SampleLabels::have_axes() const {
  return std::ranges::any_of(arrays_, [](const Tensor& array) { return HasAxes(array.dims()); });
}

std::string SampleLabels::OtherOrder(const DecisionPlan& decision, int64_t iteration,
                                     const ScoredOutputs& outputs, int64_t samples) const {
  if (decision.kind != DecisionKind::kTop || of_images_) return "";
  const Tensor* array = arrays_.empty() ? nullptr : &arrays_.front();
  if (by_iteration_) {
    const Result<const Tensor*> own = ArrayOf(iteration);
    array = own.ok() ? *own : nullptr;
  }
  if (array == nullptr || !HasAxes(array->dims())) return "";
  const Dims& labels = array->dims();
  const std::string shape =
      (by_iteration_ ? "labels of iteration " + std::to_string(iteration) : std::string("labels")) +
      " of the shape " + FormatDims(labels);
  if (outputs.first == nullptr) {
    const bool one_axis = LongAxes(std::span(labels).subspan(1)) == Dims{samples};
    if (!by_iteration_ && one_axis) return "";
    return shape +
           " may be in another order than the samples, whose axes rows do not have: give "
           "labels flat";
  }
  const std::optional<size_t> axis = ClassAxis(decision, outputs.first->dims());
  if (!axis) return "";
  const Dims axes = AxesOfSamples(outputs.first->dims(), *axis);
  if (LongAxes(labels) == LongAxes(axes) || (!by_iteration_ && IsOfAll(labels, axes))) return "";
  return shape + " are in another order than the samples, which are " + FormatDims(axes) +
         " in an iteration: give labels in that shape" +
         (by_iteration_ ? ", or flat" : " after the iterations, or flat");
}

}  // namespace vernier
