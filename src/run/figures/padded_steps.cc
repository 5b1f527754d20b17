#include "run/figures/padded_steps.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "run/figures/pair_recorder.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// The positions of an output that was not verified because its mask excludes all; 0: it was.
int64_t ExcludedPositions(const OutputComparison& output) {
  if (!output.only_not_verified()) return 0;
  int64_t positions = 0;
  for (const FunctionResult& result : output.functions) {
    if (result.verdict != Verdict::kNotVerified) return 0;
    const auto* const logits = std::get_if<LogitsResult>(&result.data);
    const bool by_logits = logits != nullptr && logits->measures.excluded > 0 &&
                           logits->measures.excluded == logits->measures.positions;
    const bool by_elements = result.function != CompareFunction::kLogits && output.masked &&
                             output.masked->excluded > 0 &&
                             output.masked->excluded == output.masked->positions;
    if (!by_logits && !by_elements) return 0;
    positions = by_logits ? logits->measures.positions : output.masked->positions;
  }
  return positions;
}

std::string MaskOf(const OutputComparison& output) {
  if (output.masked) return output.masked->mask;
  const FunctionResult* const result = output.Find(CompareFunction::kLogits);
  const auto* const logits = result == nullptr ? nullptr : std::get_if<LogitsResult>(&result->data);
  return logits == nullptr ? "" : logits->tokens.mask;
}

}  // namespace

bool PaddedSteps::Take(IterationComparison& comparison, int64_t iteration) {
  bool any = false;
  for (OutputComparison& output : comparison.outputs) {
    const int64_t positions = ExcludedPositions(output);
    if (positions == 0) continue;
    any = true;
    Held& held = outputs_[output.a_name];
    if (held.steps++ == 0) {
      held.first = output;
      held.first.a = held.first.b = held.first.aligned_b = Tensor();
      held.iteration = iteration;
    }
    held.positions += positions;
  }
  if (!any) return false;
  std::erase_if(comparison.outputs,
                [](const OutputComparison& output) { return ExcludedPositions(output) > 0; });
  left_out_ += comparison.outputs.empty() ? 1 : 0;
  return comparison.outputs.empty();
}

PaddedSteps::Sentences PaddedSteps::AddTo(const PairRecorder& recorder, PairRecord& record) const {
  Sentences sentences;
  for (const auto& [name, held] : outputs_) {
    const std::string mask = MaskOf(held.first);
    auto output = std::ranges::find(record.outputs, name, &OutputRecord::name);
    if (output == record.outputs.end()) {
      PairRecorder never(record.first, record.second, Charts::kNone);
      IterationComparison step;
      step.outputs.push_back(held.first);
      never.Add(step, held.iteration);
      record.outputs.push_back(never.Finish(1).outputs.front());
      output = record.outputs.end() - 1;
      output->compared = output->not_verified = output->without_numbers = held.steps;
      output->tokens.reset();  // that of one step
      sentences.unverified.push_back("output '" + name +
                                     "' was not verified, and has not passed: '" + mask +
                                     "' excludes every position");
    } else {
      sentences.notes.push_back("output '" + name + "': " + Counted(held.steps, "step") +
                                " of padding alone, by '" + mask + "', " +
                                Verb(held.steps, "was", "were") + " not compared");
    }
    if (!output->tokens) output->tokens.emplace();
    if (output->tokens->excluded == 0) output->tokens->positions += recorder.WholePositions(name);
    if (output->tokens->mask.empty()) output->tokens->mask = mask;
    output->tokens->positions += held.positions;
    output->tokens->excluded += held.positions;
  }
  return sentences;
}

}  // namespace vernier
