#include "run/comparison/empty_steps.h"

#include <algorithm>

#include "compare/functions/comparison.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

bool LacksElements(const Dims& dims, bool of_logits) {
  const auto empty = std::ranges::find(dims, int64_t{0});
  return empty != dims.end() && (of_logits || dims.front() != 0);
}

bool LacksElements(const OutputComparison& output) {
  const bool of_logits = output.Find(CompareFunction::kLogits) != nullptr;
  return LacksElements(output.a_dims, of_logits) && LacksElements(output.b_dims, of_logits);
}

}  // namespace

void EmptySteps::Add(const StepPosition& position, const IterationComparison& comparison) {
  for (const OutputComparison& output : comparison.outputs) {
    Seen& seen = outputs_[output.a_name];
    const bool empty = LacksElements(output);
    ++seen.steps;
    seen.empty += empty ? 1 : 0;
    if (position.step == 0) {
      seen.begins = !empty;
    } else if (seen.begins) {
      ++seen.later;
      seen.empty_later += empty ? 1 : 0;
    }
  }
}

std::vector<std::string> EmptySteps::Describe() const {
  std::vector<std::string> sentences;
  for (const auto& [name, seen] : outputs_) {
    if (2 * seen.empty_later <= seen.later) continue;
    sentences.push_back("output '" + name + "' has no elements in " +
                        CountedOf(seen.empty, seen.steps, "iteration") +
                        ", though it has some at the first step: nothing was compared there");
  }
  return sentences;
}

}  // namespace vernier
