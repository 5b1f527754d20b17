#include "check/properties/properties.h"

#include <utility>

#include "check/properties/cache_properties.h"
#include "check/properties/disturbed_resets.h"
#include "check/properties/memory_properties.h"
#include "check/properties/row_properties.h"
#include "check/properties/shape_sweep.h"
#include "check/properties/state_properties.h"
#include "check/properties/trial.h"
#include "run/runner/neutral_settings.h"
#include "util/text/split_words.h"

namespace vernier {
namespace {

// What follows the first inference, each in the state of the one before: a delay line, say, shows
// what it holds only there.
bool HoldLater(Trial& trial, const std::string& what, const TensorMap& feed,
               const std::vector<TensorMap>& expected, Probe& probe) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string which = ", inference " + std::to_string(i + 2);
    if (!trial.HoldMore(what + which, expected[i], probe.InferUnreset(feed))) return false;
  }
  return true;
}

// Of each sample the first outputs of this process; those of the default were its first of all.
bool HoldRepeats(Subject& subject, Trial& trial, const Sample& sample, DisturbedResets& disturbed) {
  Probe& probe = *subject.probe;
  const bool is_default = &sample == subject.samples.data();
  const Result<TensorMap> first = is_default ? sample.outputs : probe.Infer(sample.feed);
  if (!first.ok()) return trial.Break("run 1" + sample.size, first.status().message());
  const auto count = static_cast<int64_t>(sample.later.outputs.size());
  const std::vector<TensorMap> later =
      is_default ? sample.later.outputs : probe.GoOn(sample.feed, count).outputs;
  for (int64_t run = 1; run < subject.repeats; ++run) {
    const std::string what = "run " + std::to_string(run + 1) + sample.size;
    if (!trial.Hold(what, *first, probe.Infer(sample.feed))) return false;
    if (!HoldLater(trial, what, sample.feed, later, probe)) return false;
  }
  std::vector<TensorMap> expected = {*first};
  expected.insert(expected.end(), later.begin(), later.end());
  return disturbed.Hold(sample, expected);
}

PropertyRecord RepeatedRuns(Subject& subject) {
  Trial trial(subject);
  DisturbedResets disturbed(subject, trial);
  for (const Sample& sample : subject.samples) {
    if (!HoldRepeats(subject, trial, sample, disturbed)) break;
  }
  subject.earlier.runs_differ = trial.apart();
  std::string said = WithLater(subject, subject.sizes);
  const std::string behind = disturbed.Describe();
  if (!behind.empty()) said += (said.empty() ? "" : "; ") + behind;
  return trial.Finish("more runs", said);
}

// Behind all that was tried in one process: what a runner makes wrong from some inference on shows
// only after more of them.
PropertyRecord LaterRuns(Subject& subject) {
  Trial trial(subject);
  for (int64_t run = 1; run <= subject.repeats; ++run) {
    const std::string what = "run " + std::to_string(run) + " after all else";
    if (!trial.HoldAnew(what, InferSamples(subject, *subject.probe))) break;
  }
  return trial.Finish("more runs", subject.sizes);
}

bool HoldAnotherProcess(const Subject& subject, Trial& trial) {
  const std::string process = "a second process";
  const Result<std::unique_ptr<Probe>> probe = subject.runner.Open();
  if (!probe.ok()) return trial.Break(process, probe.status().message());
  trial.Count();
  for (const Sample& sample : subject.samples) {
    const std::string what = process + sample.size;
    if (!trial.HoldMore(what, sample.outputs, (*probe)->Infer(sample.feed))) return false;
    if (!HoldLater(trial, what, sample.feed, sample.later.outputs, **probe)) return false;
  }
  const Status closed = (*probe)->Close();
  return closed.ok() || trial.Break(process, closed.message());
}

// A reset that always sets the same wrong state shows only beside a session that was not reset. In
// words what was not tried; empty where that is nothing.
std::string HoldUnreset(const Subject& subject, Trial& trial) {
  const Result<std::unique_ptr<Probe>> probe = subject.runner.Open();
  if (!probe.ok()) {
    trial.Break("a third process", probe.status().message());
    return "";
  }
  const Sample& sample = subject.samples.front();
  const Result<TensorMap> outputs = (*probe)->InferUnreset(sample.feed);
  if (!outputs.ok()) {
    return "the first state comes from the reset itself: the first inference fails without it (" +
           outputs.status().message() + ")";
  }
  const std::string what = "a session that was not reset before its first inference";
  if (trial.Hold(what, sample.outputs, outputs)) {
    HoldLater(trial, what, sample.feed, sample.later.outputs, **probe);
  }
  return "";
}

// Objects of the calling program may have been used before.
bool ComesAsOpened(const Subject& subject) {
  return subject.probe->runner().keeps_state() && subject.runner.shared.caller == nullptr;
}

PropertyRecord FreshSession(Subject& subject) {
  Trial trial(subject);
  const bool holds = HoldAnotherProcess(subject, trial);
  subject.earlier.processes_differ = trial.apart();
  if (!holds || subject.earlier.runs_differ || !ComesAsOpened(subject)) {
    return trial.Finish("more process", WithLater(subject, subject.sizes));
  }
  const std::string untried = HoldUnreset(subject, trial);
  const std::string_view between = untried.empty() || subject.sizes.empty() ? "" : "; ";
  return trial.Finish(untried.empty() ? "more processes" : "more process",
                      WithLater(subject, subject.sizes + std::string(between) + untried));
}

// Thread counts, optimisation levels and kinds of kernels, each by itself.
std::vector<std::pair<std::string, Circumstances>> SettingsToTry(const BackendInfo& backend) {
  std::vector<std::pair<std::string, Circumstances>> settings;
  for (const auto& [key, value] : NeutralSettings(backend)) {
    settings.emplace_back(key + "=" + value, Circumstances{.settings = {{key, value}}});
  }
  for (const std::string& variables : backend.neutral_environments) {
    settings.emplace_back(variables, Circumstances{.environment = SplitAtSpaces(variables)});
  }
  return settings;
}

PropertyRecord OtherSettings(Subject& subject) {
  const auto settings = SettingsToTry(subject.probe->runner().backend());
  if (settings.empty()) {
    return NotApplicable("no thread counts or optimisation levels of '" +
                         subject.runner.plan.backend + "' can be set from here");
  }
  Trial trial(subject);
  trial.AllowRounding();
  for (const auto& [what, circumstances] : settings) {
    if (!trial.HoldAnew(what, InferAnew(subject, circumstances))) break;
  }
  return trial.Finish("settings", subject.sizes);
}

constexpr Property kProperties[] = {
    {"repeated-runs", "the same outputs when the same inputs are fed again", RepeatedRuns},
    {"fresh-session", "the same outputs in another process", FreshSession},
    {"identical-rows", "the same outputs for every row of a batch of equal rows", IdenticalRows},
    {"permuted-rows", "the same outputs in another order when the rows of a batch are",
     PermutedRows},
    {"batch-of-one", "the same outputs for a row alone as within a batch", BatchOfOne},
    {"permuted-states",
     "the same outputs and states for a sequence alone, and in another order, as within a batch: "
     "states keep the sequences apart along one axis",
     PermutedStates},
    {"prefill-decode",
     "the same outputs and caches for tokens at once as with the caches fed back: positions count "
     "on behind a past, and caches are taken as they are handed out",
     PrefillDecode},
    {"padded-sequence",
     "the same outputs for tokens with padding that the mask excludes: the mask is looked at, and "
     "positions do not count padding",
     PaddedSequence},
    {"fresh-sequence",
     "the same outputs for empty caches as in a new process: nothing is left of the sequence "
     "before",
     FreshSequence},
    {"shape-sweep", "the same outputs twice for every size of each dynamic dimension", ShapeSweep},
    {"other-settings", "the same outputs with other thread counts and optimisation levels",
     OtherSettings},
    {"read-only-inputs", "inputs that are as they were before the run", ReadOnlyInputs},
    {"input-alignment", "the same outputs wherever in memory the inputs begin", InputAlignment},
    {"poisoned-outputs", "every element of the outputs to be written", PoisonedOutputs},
    {"uninitialised-memory", "the same outputs whatever unused memory holds", UninitialisedMemory},
    {"later-runs", "the same outputs when the same inputs are fed again after all else", LaterRuns},
};

}  // namespace

std::span<const Property> Properties() { return kProperties; }

}  // namespace vernier
