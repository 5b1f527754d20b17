#include "run/steps/whole_sequence.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/shape_match.h"
#include "run/steps/step_tensors.h"
#include "util/values/plural_text.h"

namespace vernier {

Result<std::vector<std::string>> WholeSequence::Keep(const StepPosition& position,
                                                     IterationResult whole) {
  std::vector<std::string> left;
  std::string shapes;
  std::erase_if(whole.outputs, [&](const NamedTensor& output) {
    const Dims& dims = output.tensor.dims();
    const bool has_steps =
        axis_ < dims.size() && dims[axis_] > 0 && dims[axis_] % position.steps == 0;
    if (has_steps) return false;
    left.push_back(output.name);
    shapes += (shapes.empty() ? "'" : ", '") + output.name + "' " + FormatDims(dims);
    return true;
  });
  if (whole.outputs.empty()) {
    return Malformed("--steps-axis: no output of " + whole.runner_name + " has " +
                     Counted(position.steps, "step") + " along axis " + std::to_string(axis_) +
                     ", but " + (shapes.empty() ? "nothing" : shapes));
  }
  sequence_ = position.sequence;
  whole_ = std::move(whole);
  return left;
}

Result<IterationResult> WholeSequence::OfStep(const StepPosition& position) const {
  IterationResult part{whole_.runner_name, std::nullopt, {}};
  for (const NamedTensor& output : whole_.outputs) {
    const int64_t size = output.tensor.dims()[axis_] / position.steps;
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor,
                             TakeWindow(output.tensor, axis_, position.step * size, size));
    part.outputs.push_back({output.name, std::move(tensor)});
  }
  return part;
}

Tensor AsOfOneStep(const Tensor& part, const Dims& step) {
  if (WithoutUnitAxes(part.dims()) != WithoutUnitAxes(step)) return part;
  const Result<Tensor> shaped = part.Reshaped(step);
  return shaped.ok() ? *shaped : part;
}

}  // namespace vernier
