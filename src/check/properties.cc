#include "check/properties.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "check/cache_properties.h"
#include "check/memory_properties.h"
#include "check/row_properties.h"
#include "check/state_properties.h"
#include "check/trial.h"
#include "run/runner/neutral_settings.h"

namespace vernier {
namespace {

constexpr int64_t kSweepSizes[] = {1, 2, 3, 5, 8};

// Of each sample the first outputs of this process; those of the default were its first of all.
PropertyRecord RepeatedRuns(Subject& subject) {
  Trial trial(subject);
  bool holds = true;
  for (const Sample& sample : subject.samples) {
    const bool is_default = &sample == subject.samples.data();
    const Result<TensorMap> first = is_default ? sample.outputs : subject.probe->Infer(sample.feed);
    if (!first.ok()) trial.Break("run 1" + sample.size, first.status().message());
    holds = first.ok();
    for (int64_t run = 1; holds && run < subject.repeats; ++run) {
      holds = trial.Hold("run " + std::to_string(run + 1) + sample.size, *first,
                         subject.probe->Infer(sample.feed));
    }
    if (!holds) break;
  }
  subject.earlier.runs_differ = trial.apart();
  return trial.Finish("more runs", subject.sizes);
}

PropertyRecord FreshSession(Subject& subject) {
  Trial trial(subject);
  trial.HoldSamples("a second process", InferAnew(subject, {}));
  subject.earlier.processes_differ = trial.apart();
  return trial.Finish("more process", subject.sizes);
}

// The dynamic dimensions of the inputs, each once; nameless ones are one.
std::vector<std::string> DynamicDimensions(const Subject& subject) {
  std::vector<std::string> names;
  for (const TensorInfo& input : subject.probe->runner().session().inputs) {
    if (!input.shape) continue;
    for (const Dim& dim : *input.shape) {
      const bool known = std::find(names.begin(), names.end(), dim.symbol) != names.end();
      if (dim.dynamic() && !known) names.push_back(dim.symbol);
    }
  }
  return names;
}

// What of a sweep the model itself refuses, which is no fault of the runner.
struct Refused {
  std::string first;  // the first of it, and why
  bool last = false;  // the last one tried was
};

// Other shapes have no expected values; but they must run, unless the model is known to refuse some
// sizes, or these, and twice to the same result.
bool HoldTwice(Subject& subject, Trial& trial, const std::string& what, const TensorMap& feed,
               Refused& refused) {
  const Result<TensorMap> once = subject.probe->Infer(feed);
  refused.last = !once.ok() && !subject.probe->runner().lost_worker();
  if (refused.last && subject.refuses_sizes) return true;
  if (refused.last) {
    const std::string why = subject.bench.RefusedByAll(feed);
    if (!why.empty() && refused.first.empty()) refused.first = what + " (" + why + ")";
    if (!why.empty()) return true;
  }
  if (!once.ok()) return trial.Break(what, once.status().message());
  return trial.Hold(what, *once, subject.probe->Infer(feed));
}

std::string ShapesOf(const TensorMap& feed) {
  std::string text;
  for (const NamedTensor& input : feed) {
    text +=
        (text.empty() ? "" : ", ") + ("'" + input.name + "' ") + FormatDims(input.tensor.dims());
  }
  return text;
}

std::string Aside(const Subject& subject, const Refused& refused) {
  if (!refused.first.empty()) return "sizes aside that the model refuses: " + refused.first;
  return subject.refuses_sizes ? "sizes aside that the model refuses" : "";
}

// Those that --input-shapes gives in turn; the first of them is what all else is tried with.
PropertyRecord SweepGiven(Subject& subject, const std::vector<TensorMap>& feeds) {
  Trial trial(subject);
  Refused refused;
  for (const TensorMap& feed : feeds) {
    if (!HoldTwice(subject, trial, "inputs of the shapes " + ShapesOf(feed), feed, refused)) break;
  }
  return trial.Finish("shapes", Aside(subject, refused));
}

// One dimension of that size; where the model refuses it, all of them: they may have to agree.
bool SweepSize(Subject& subject, Trial& trial, const FreeSizes& sizes, Refused& refused) {
  const Result<TensorMap> alone = subject.bench.Draw(sizes);
  if (!alone.ok()) return trial.Break("sizes", alone.status().message());
  const std::string of = " of size " + std::to_string(sizes.size);
  const std::string name =
      sizes.dimension->empty() ? "dynamic dimensions" : "'" + *sizes.dimension + "'";
  if (!HoldTwice(subject, trial, name + of, *alone, refused)) return false;
  if (!refused.last || subject.refuses_sizes) return true;
  const Result<TensorMap> together =
      subject.bench.Draw({.dimension = sizes.dimension, .size = sizes.size, .others = sizes.size});
  if (!together.ok() || SameShapes(*alone, *together)) return true;
  return HoldTwice(subject, trial, "all free dimensions" + of, *together, refused);
}

PropertyRecord ShapeSweep(Subject& subject) {
  const Result<std::vector<TensorMap>> given = subject.bench.DrawGiven();
  if (!given.ok()) return NotApplicable(given.status().message());
  if (given->size() > 1) return SweepGiven(subject, *given);
  const std::vector<std::string> dimensions = DynamicDimensions(subject);
  if (subject.probe->runner().inputs_unknown()) {
    return NotApplicable("the model does not declare which dimensions of its inputs are free");
  }
  if (dimensions.empty()) return NotApplicable("every dimension of the inputs is fixed");
  Trial trial(subject);
  // What only goes wrong where two of them are more than 1 comes last.
  const Result<TensorMap> together = subject.bench.Draw({.others = kLargerSize});
  if (!together.ok()) return NotApplicable(together.status().message());
  Refused refused;
  for (const std::string& dimension : dimensions) {
    for (const int64_t size : kSweepSizes) {
      const FreeSizes sizes{.dimension = dimension, .size = size};
      if (!SweepSize(subject, trial, sizes, refused)) return trial.Finish("");
    }
  }
  if (dimensions.size() == 1) return trial.Finish("shapes", Aside(subject, refused));
  const std::string what = "all free dimensions of size " + std::to_string(kLargerSize);
  if (!HoldTwice(subject, trial, what, *together, refused)) return trial.Finish("");
  const std::string aside = Aside(subject, refused);
  return trial.Finish(
      "shapes", "each free dimension by itself, and " + what + (aside.empty() ? "" : "; " + aside));
}

// Thread counts, optimisation levels and kinds of kernels, each by itself.
std::vector<std::pair<std::string, Circumstances>> SettingsToTry(const BackendInfo& backend) {
  std::vector<std::pair<std::string, Circumstances>> settings;
  for (const auto& [key, value] : NeutralSettings(backend)) {
    settings.emplace_back(key + "=" + value, Circumstances{.settings = {{key, value}}});
  }
  for (const std::string& variables : backend.neutral_environments) {
    std::istringstream words{variables};
    Circumstances circumstances;
    circumstances.environment.assign(std::istream_iterator<std::string>(words), {});
    settings.emplace_back(variables, std::move(circumstances));
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
};

}  // namespace

std::span<const Property> Properties() { return kProperties; }

}  // namespace vernier
