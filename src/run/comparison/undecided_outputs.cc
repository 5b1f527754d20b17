#include "run/comparison/undecided_outputs.h"

#include <string>
#include <vector>

#include "util/text/number_text.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

// Each of them flips steps of its own.
constexpr double kBothSides = 2;

struct Candidate {
  OutputComparison* output;
  Movement differs;  // between the sides
};

std::string Percent(double share) { return FormatG(100 * share, 2) + " %"; }

std::vector<Candidate> OverBehindQuantisers(const ErrorBounds& bounds,
                                            IterationComparison& comparison) {
  std::vector<Candidate> over;
  for (OutputComparison& output : comparison.outputs) {
    const auto* const data = output.FindData<SimpleResult>(CompareFunction::kSimple);
    const ErrorBound* const bound = bounds.Find(output.a_name);
    const bool failed = data != nullptr && data->bound && !data->bound->passed;
    if (!failed || bound == nullptr || bound->element == 0 || bound->rms == 0) continue;
    const bool aligned = !output.aligned_b.bytes().empty();
    const Movement differs = Moved(output.a, aligned ? output.aligned_b : output.b);
    if (differs.rms > 0) over.push_back({&output, differs});
  }
  return over;
}

// Would the side that was moved fail against itself?
bool IsOver(const Movement& moved, const BoundVerdict& verdict) {
  return moved.rms > verdict.bound || moved.element * verdict.scale > verdict.atol;
}

void LeaveUndecided(const Candidate& over, const Movement& moved) {
  for (FunctionResult& result : over.output->functions) {
    if (result.function != CompareFunction::kSimple) continue;
    result.verdict = Verdict::kNotVerified;
    result.why = "moving inputs and scales by one rounding step changes it by " +
                 Percent(moved.rms) +
                 " of its scale, since codes of quantisers flip, so a difference of " +
                 Percent(over.differs.rms) +
                 " shows no fault: `vernier blame` compares each layer by itself";
  }
}

}  // namespace

void LeaveUndecided(BoundRecheck& recheck, std::pair<size_t, size_t> pair,
                    const IterationOutputs& outputs, const ErrorBounds& bounds,
                    IterationComparison& comparison) {
  // A marked tensor is judged by what the one before it shows.
  const bool quantised = recheck.Quantises(pair.first) || recheck.Quantises(pair.second);
  if (!quantised || recheck.any_marked()) return;
  const std::vector<Candidate> over = OverBehindQuantisers(bounds, comparison);
  const bool second = !recheck.CanInfer(pair.first);
  const size_t stream = second ? pair.second : pair.first;
  if (over.empty() || !recheck.CanInfer(stream)) return;
  std::vector<OutputToMove> to_move;
  for (const auto& [output, differs] : over) {
    to_move.push_back({second ? output->b_name : output->a_name,
                       {differs.rms / kBothSides, differs.element / kBothSides}});
  }
  const std::vector<Movement> moved =
      recheck.MoveByRounding(stream, to_move, outputs[stream]->outputs);
  for (size_t i = 0; i < over.size(); ++i) {
    const auto* const data = over[i].output->FindData<SimpleResult>(CompareFunction::kSimple);
    if (!IsOver(moved[i], *data->bound) || !to_move[i].IsEnough(moved[i])) continue;
    LeaveUndecided(over[i], moved[i]);
  }
}

}  // namespace vernier
