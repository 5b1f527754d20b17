// What runners are fed back, found when they are opened.
#include <algorithm>
#include <utility>

#include "record/schema/runner_name.h"
#include "run/live/live_steps.h"
#include "run/runner/resolve_runner.h"
#include "run/steps/prompt_inputs.h"
#include "run/workers/embedder.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr double kSlowOpening = 0.05;  // seconds that are worth a word

// A state inside a runner cannot be replaced by another runner's. Feeding that runner's tokens
// does not help: the state that earlier tokens made stays.
Status CannotHaveOthers(const StepPlan& steps, const std::string& keeps) {
  if (steps.finds_own_errors) {
    return InvalidArgument(
        "blame over steps: " + keeps +
        ", where another runner's state cannot be set, so no step shows its own error; find the "
        "step with " +
        (steps.decodes() ? "`vernier run --decode greedy`" : "`vernier run --steps`") +
        ", or give a model whose states are inputs (--feed-back)");
  }
  if (steps.state == StateSource::kOwn) return {};
  return InvalidArgument("--state " +
                         std::string(kStateSourceNames[static_cast<size_t>(steps.state)]) + ": " +
                         keeps + ", where another runner's state cannot be set; leave out --state");
}

Status MayKeepState(const StepPlan& steps, const std::string& runner) {
  const std::string keeps = runner + " keeps its state inside";
  if (!steps.initial_state.empty() && !steps.finds_own_errors) {
    return InvalidArgument("--initial-state: " + keeps + ", where a first state cannot be set");
  }
  return CannotHaveOthers(steps, keeps);
}

std::string ScriptOf(const RunnerSession& runner) {
  for (const auto& [name, value] : runner.plan().session_options) {
    if (name == "script") return value;
  }
  return "";
}

// A script or an object of the user, or a pickle of the user's classes: our own runners know their
// state.
bool IsUsersCode(const RunnerSession& runner) {
  if (!runner.in_plugin() && HasOption(runner.plan(), "allow_pickle")) return true;
  return runner.plan().backend == "python" && !ScriptOf(runner).starts_with("builtin:");
}

// A caller's object is there once.
bool CanOpenAgain(const RunnerSession& runner) {
  return IsUsersCode(runner) && !IsCallersObject(ScriptOf(runner));
}

// Is the input fed with another tensor, or may a pattern say so?
bool IsMapped(const std::vector<std::string>& words, const std::string& input) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return word.find('*') != std::string::npos || word.starts_with(input + "=") ||
           word.find(":" + input + "=") != std::string::npos;
  });
}

}  // namespace

std::vector<std::string> LiveSteps::MayStay(size_t index) const {
  std::vector<std::string> outputs = states()->StateOutputs(index);
  for (const auto& [output, input] : states()->FedBackTo(index)) {
    // Comparisons leave out what a mask excludes, so its values are needed here.
    if (runners_.size() > 1 && IsMaskName(input)) std::erase(outputs, output);
    const TensorInfo* const info = FindInfo(runners_[index].session().inputs, input);
    const bool ids =
        info != nullptr && (info->dtype == DType::kInt32 || info->dtype == DType::kInt64);
    const bool looked_up = ids && !tokens_.TablesOfInput(index, input).empty();
    // No worker keeps texts.
    const bool texts = info != nullptr && info->dtype == DType::kString;
    if (looked_up || texts) std::erase(outputs, output);
  }
  return outputs;
}

// Of a sequence, a map or optional, the inputs that are tensors are its parts.
Status LiveSteps::CheckTensorsFedBack(size_t index, const Status& paired) const {
  const std::string& name = states()->ShownName(index);
  for (const std::string& input : runners_[index].session().nested_inputs) {
    for (const FeedBackWord& word : states()->words().feed_back) {
      if (!word.label.empty() && !IsCalled(runners_[index].name(), word.label)) continue;
      const auto splits = word.Splits();
      const bool names_it = std::ranges::any_of(
          splits, [&input = input](const auto& split) { return split.second == input; });
      if (!names_it && (!word.automatic() || paired.ok())) continue;
      return InvalidArgument("--feed-back " + word.word + ": '" + input + "' of " + name +
                             " is a sequence, a map or optional, which cannot be fed back: give "
                             "the model a tensor for its state");
    }
  }
  return paired;
}

Status LiveSteps::Pair(size_t index) {
  RunnerSession& runner = runners_[index];
  StepStates* const steps = states();
  if (steps == nullptr || !runner.opened()) return {};
  if (runner.keeps_state()) VERNIER_TRY(MayKeepState(plan_.steps, steps->ShownName(index)));
  RunnerSides sides{runner.name(), {}, {}, runner.keeps_state(), CanOpenAgain(runner)};
  if (!runner.inputs_unknown()) sides.inputs = runner.session().inputs;
  sides.outputs = runner.session().outputs;
  if (runner.plan().model.edited()) sides.own_outputs = runner.model().own_outputs;
  for (const TensorInfo& input : sides.inputs) {
    if (IsMapped(plan_.inputs.map_words, input.name)) sides.mapped.push_back(input.name);
  }
  VERNIER_TRY(CheckTensorsFedBack(index, steps->Pair(index, sides)));
  if (IsUsersCode(runner) && steps->MayHideState(index)) {
    VERNIER_TRY(CannotHaveOthers(plan_.steps, steps->ShownName(index) +
                                                  " feeds nothing back and has no reset_states, so "
                                                  "perhaps it keeps its state inside"));
  }
  staying_[index] = MayStay(index);
  if (!Staying(index, 0).empty()) {
    steps->logger().Verbose(runner.name() + " | What is fed back stays in its worker");
  }
  if (!steps->OpensAgain(index)) return {};
  runner.OpenAgainToReset();
  const double seconds = runner.session().load_seconds;
  if (seconds >= kSlowOpening) {
    steps->logger().Info(runner.name() + " | Opening the model took " + FormatG(seconds, 2) +
                         " s, and each sequence opens it again; a method reset_states avoids that");
  }
  return {};
}

bool LiveSteps::StateIsInside(size_t index) const {
  return runners_[index].keeps_state() && states() != nullptr && !states()->axis(index);
}

}  // namespace vernier
