#include "session/plan/plan_steps.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "record/schema/runner_name.h"
#include "run/feeds/token_sources.h"
#include "run/steps/compared_states.h"
#include "run/steps/decode_words.h"
#include "run/steps/reset_words.h"
#include "run/steps/step_words.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// Of states only --compare logits would see anything, and it takes none that is not named.
bool LeavesOutStates(const RunPlan& plan) {
  const CompareOptions& compare = *plan.compare;
  return !plan.compare_script.given() && compare.logits_axis.entries.empty() &&
         std::ranges::all_of(compare.functions, [](CompareFunction function) {
           return function == CompareFunction::kLogits;
         });
}

// What a state's options are worth without a state, or without anyone to compare it with.
Status CheckStateOptions(const RunPlan& plan) {
  const StepPlan& steps = plan.steps;
  if (!steps.feed_back.empty() || steps.decodes()) {
    if (steps.state == StateSource::kReference && plan.runners.size() == 1) {
      return InvalidArgument("--state reference: a lone runner is fed with its own state anyway");
    }
    if (steps.state == StateSource::kCross && plan.runners.size() == 1) {
      return InvalidArgument("--state cross: there is no second runner with a state of its own");
    }
    if (steps.compare_state && plan.runners.size() + plan.load_outputs.size() < 2) {
      return InvalidArgument("--compare-state: there is only one side to compare");
    }
    if (steps.compare_state && LeavesOutStates(plan)) return StatesLeftOutByLogits();
    if (steps.min_token_agreement && plan.runners.size() + plan.load_outputs.size() < 2) {
      return InvalidArgument("--min-token-agreement: there is only one side to compare");
    }
  }
  if (!steps.feed_back.empty()) return {};
  const std::string_view flag = !steps.initial_state.empty()             ? "--initial-state"
                                : steps.compare_state                    ? "--compare-state"
                                : steps.decodes()                        ? ""
                                : steps.state == StateSource::kReference ? "--state reference"
                                : steps.state == StateSource::kCross     ? "--state cross"
                                                                         : "";
  if (flag.empty()) return {};
  return InvalidArgument(
      std::string(flag) +
      ": there is no state: say with --feed-back which outputs are inputs of the "
      "next step");
}

Status CheckStepCount(const StepPlan& steps) {
  if (steps.steps && *steps.steps < 1) {
    return InvalidArgument("--steps: expected a number >= 1, got " + std::to_string(*steps.steps));
  }
  // Without --steps a decoding is as long as its --tokens.
  if (!steps.steps && (!steps.slices.empty() || steps.decodes())) return {};
  if (!steps.steps) {
    return InvalidArgument(
        "--feed-back, --advance: the number of steps is missing: give --steps N, or --step-slice"
        " for inputs that hold whole sequences");
  }
  const bool goes_on = !steps.feed_back.empty() || !steps.advances.empty() || steps.decodes();
  // One step of a decoding chooses a token.
  if (*steps.steps == 1 && goes_on && !steps.decodes()) {
    return InvalidArgument(
        "--steps 1: there is no next step that --feed-back or --advance could be for");
  }
  if (!goes_on && steps.slices.empty()) {
    return InvalidArgument(
        "--steps: all steps would be the same: say with --feed-back, --step-slice or --advance "
        "what changes from step to step");
  }
  return {};
}

Status CheckStepAxes(const StepPlan& steps) {
  if (steps.axes.empty()) return {};
  if (steps.slices.empty() && steps.advances.empty()) {
    return InvalidArgument(
        "--steps-axis: no input holds the steps that are to be taken at once: say with "
        "--step-slice or --advance which do");
  }
  if (steps.state != StateSource::kOwn) {
    return InvalidArgument("--state " +
                           std::string(kStateSourceNames[static_cast<size_t>(steps.state)]) +
                           ": the state of a runner of --steps-axis is not accessible");
  }
  return {};
}

// Feeds are made for a runner that goes step by step, which has to be open when the first is fed.
Status CheckAxisRunners(const RunPlan& plan, const StepWords& words) {
  const auto has_axis = [&](const RunnerPlan& runner) {
    return std::ranges::any_of(
        words.axes, [&](const AxisWord& axis) { return IsCalled(runner.name, axis.label); });
  };
  if (words.axes.empty()) return {};
  if (std::ranges::all_of(plan.runners, has_axis)) {
    return InvalidArgument(
        "--steps-axis: at least one runner must go step by step, to compare"
        " with");
  }
  if (!plan.execution.sequential || !has_axis(plan.runners.front())) return {};
  return InvalidArgument(
      "--steps-axis: with --sequential-runners the first runner goes step by step; name '" +
      plan.runners.front().name + "' after another");
}

// Tokens that no runner is fed with, and by which no logits are judged.
Status CheckTokens(const RunPlan& plan) {
  const CompareOptions& compare = *plan.compare;
  if (compare.tokens.empty() || compare.lenient) return {};
  const bool judged =
      std::ranges::find(compare.functions, CompareFunction::kLogits) != compare.functions.end();
  const bool fed = plan.steps.decodes() && GivesTokens(compare.tokens);
  if (judged || fed) return {};
  return InvalidArgument("--tokens " + compare.tokens + ": nothing takes them: add --compare " +
                         "logits, or --decode greedy for those of a file or script");
}

Status CheckDecoding(const RunPlan& plan) {
  const StepPlan& steps = plan.steps;
  if (!steps.decodes()) {
    if (!steps.decode_stop && !steps.min_token_agreement) return {};
    return InvalidArgument(
        std::string(steps.decode_stop ? "--decode-stop" : "--min-token-agreement") +
        ": nothing is decoded: add --decode greedy");
  }
  if (!steps.steps && !GivesTokens(plan.compare->tokens)) {
    return InvalidArgument(
        "--decode: the number of tokens is missing: give --steps N, one for each token, or"
        " --tokens FILE.npy with those to feed");
  }
  if (steps.decode_stop && *steps.decode_stop < 0) {
    return InvalidArgument("--decode-stop: expected a token id >= 0, got " +
                           std::to_string(*steps.decode_stop));
  }
  if (steps.axes.empty()) return {};
  return InvalidArgument(
      "--steps-axis: with --decode a step is fed with the token of the step before it, so no "
      "runner can take all steps at once");
}

}  // namespace

Status CheckSteps(const RunPlan& plan) {
  const StepPlan& steps = plan.steps;
  VERNIER_TRY(CheckTokens(plan));
  VERNIER_TRY(CheckDecoding(plan));
  VERNIER_TRY(CheckStateOptions(plan));
  VERNIER_TRY(CheckStepAxes(steps));
  VERNIER_TRY(CheckResetWords(steps.resets, plan.runners));
  if (!steps.wanted()) return {};
  if (plan.runners.empty()) {
    return InvalidArgument("--steps needs a runner: saved outputs are only compared");
  }
  std::vector<std::string> labels;
  for (const RunnerPlan& runner : plan.runners) labels.push_back(runner.name);
  VERNIER_ASSIGN_OR_RETURN(const StepWords words, ParseStepWords(steps, labels));
  VERNIER_TRY(CheckAxisRunners(plan, words));
  VERNIER_TRY(ParseDecodeWords(steps.decode, labels).status());
  VERNIER_TRY(CheckStepCount(steps));
  if (steps.state != StateSource::kOwn && plan.execution.sequential) {
    return InvalidArgument(
        "--state " + std::string(kStateSourceNames[static_cast<size_t>(steps.state)]) +
        ": the reference must be there at every step, and with --sequential-runners it is gone");
  }
  if (plan.noise_floor) {
    return InvalidArgument("--noise-floor: it is of single inferences; leave out --steps");
  }
  if (plan.blame) {
    return InvalidArgument(
        "--blame: it looks at one inference; the command `vernier blame` takes --steps");
  }
  return {};
}

}  // namespace vernier
