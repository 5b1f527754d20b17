// Runners that are fed with what they gave in the step before.
#include <algorithm>
#include <utility>

#include "run/live/live_runs.h"
#include "run/runner/resolve_runner.h"
#include "run/workers/embedder.h"
#include "util/number_text.h"

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

std::string ScriptOf(const LiveRunner& runner) {
  for (const auto& [name, value] : runner.plan().session_options) {
    if (name == "script") return value;
  }
  return "";
}

// A script or an object of the user, or a pickle of the user's classes: our own runners know their
// state.
bool IsUsersCode(const LiveRunner& runner) {
  if (!runner.in_plugin() && HasOption(runner.plan(), "allow_pickle")) return true;
  return runner.plan().backend == "python" && !ScriptOf(runner).starts_with("builtin:");
}

// A caller's object is there once.
bool CanOpenAgain(const LiveRunner& runner) {
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

Status LiveRuns::PairStates(size_t index) {
  LiveRunner& runner = runners_[index];
  StepStates* const states = steps();
  if (states == nullptr || !runner.opened()) return {};
  if (runner.keeps_state()) VERNIER_TRY(MayKeepState(plan_.steps, states->ShownName(index)));
  RunnerSides sides{runner.name(), {}, {}, runner.keeps_state(), CanOpenAgain(runner)};
  if (!runner.inputs_unknown()) sides.inputs = runner.session().inputs;
  sides.outputs = runner.session().outputs;
  if (runner.plan().model.edited()) sides.own_outputs = runner.model().own_outputs;
  for (const TensorInfo& input : sides.inputs) {
    if (IsMapped(plan_.inputs.map_words, input.name)) sides.mapped.push_back(input.name);
  }
  VERNIER_TRY(states->Pair(index, sides));
  if (IsUsersCode(runner) && states->MayHideState(index)) {
    VERNIER_TRY(CannotHaveOthers(plan_.steps, states->ShownName(index) +
                                                  " feeds nothing back and has no reset_states, so "
                                                  "perhaps it keeps its state inside"));
  }
  if (!steps_.Staying(index, runner, 0).empty()) {
    states->logger().Verbose(runner.name() + " | What is fed back stays in its worker");
  }
  if (!states->OpensAgain(index)) return {};
  runner.OpenAgainToReset();
  const double seconds = runner.session().load_seconds;
  if (seconds >= kSlowOpening) {
    states->logger().Info(
        runner.name() + " | Opening the model took " + FormatG(seconds, 2) +
        " s, and each sequence opens it again; a method reset_states avoids that");
  }
  return {};
}

bool LiveRuns::StateIsInside(size_t index) const {
  return runners_[index].keeps_state() && steps() != nullptr && !steps()->axis(index);
}

OutputsThatStay LiveRuns::StayingOutputs(size_t index, int64_t iteration) {
  const LiveRunner& runner = runners_[index];
  std::vector<std::string> states = steps_.Staying(index, runner, iteration);
  if (states.empty() && !may_stay_on_device_) return {};
  return {&devices_, std::move(states)};
}

bool LiveRuns::HasState(size_t index) {
  if (!runners_[index].alive()) return false;
  if (steps_.may_stay() && steps_.HasLostSequence(index)) return false;
  const Status state = steps_.CheckState(index, devices_);
  if (!state.ok()) LoseSequence(index, state);
  return state.ok();
}

// The state begins anew with the next one, and so does the runner, which has another worker.
void LiveRuns::LoseSequence(size_t index, const Status& why) {
  const std::string& name = runners_[index].name();
  steps_.LoseSequence(index);
  logger_.Error(PadName(name) + " | MISSING up to the end of the sequence: " + why.message());
  reports_.Note(name + ": " + why.message() + ", so the rest of this sequence is missing");
}

std::optional<IterationResult> LiveRuns::MissStep(size_t index) {
  missed_[index] += runners_[index].alive() ? 1 : 0;
  return std::nullopt;
}

int64_t LiveRuns::IterationsOf(size_t index) const {
  const auto missed = missed_.find(index);
  return runners_[index].iterations() + (missed == missed_.end() ? 0 : missed->second);
}

Status LiveRuns::RememberState(size_t index, const TensorMap& outputs) {
  Status remembered = steps()->Remember(index, outputs);
  if (remembered.ok()) remembered = steps()->CheckHandedOn(index, plan_.lenient);
  return FailWithoutState(index, std::move(remembered));
}

Status LiveRuns::FailWithoutState(size_t index, Status remembered) {
  if (remembered.code() != StatusCode::kBackend) return remembered;
  reports_.Fail(runners_[index], remembered);
  return {};
}

Result<IterationResult> LiveRuns::TakeStep(size_t index, int64_t iteration) {
  runners_[index].TakeOver(std::nullopt);
  return steps_.Take(index, iteration);
}

Result<IterationResult> LiveRuns::KeepSteps(size_t index, int64_t iteration,
                                            IterationResult whole) {
  std::vector<std::string> left;
  VERNIER_ASSIGN_OR_RETURN(IterationResult part,
                           steps_.Keep(index, iteration, std::move(whole), left));
  for (const std::string& name : left) {
    reports_.NoteOnce(runners_[index].name() + ": output '" + name +
                      "' has no element for any step along --steps-axis");
  }
  return part;
}

}  // namespace vernier
