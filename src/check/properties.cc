#include "check/properties.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <sstream>
#include <utility>

#include "check/memory_properties.h"
#include "check/trial.h"
#include "run/neutral_settings.h"
#include "util/counted.h"

namespace vernier {
namespace {

constexpr int64_t kSweepSizes[] = {1, 2, 3, 5, 8};

PropertyRecord RepeatedRuns(Subject& subject) {
  Trial trial(subject);
  for (int64_t run = 1; run < subject.repeats; ++run) {
    if (!trial.Hold("run " + std::to_string(run + 1), subject.outputs,
                    subject.probe->Infer(subject.feed))) {
      break;
    }
  }
  subject.runs_differ = trial.apart();
  return trial.Finish("more runs");
}

PropertyRecord FreshSession(Subject& subject) {
  Trial trial(subject);
  trial.Hold("a second process", subject.outputs, InferAnew(subject, {}));
  subject.processes_differ = trial.apart();
  return trial.Finish("more process");
}

std::vector<int64_t> AllRows(int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

int64_t RowCount(const Subject& subject) {
  return Find(*subject.rows, subject.batch->inputs.front())->dims().front();
}

/// Of `outputs` those of the batch that have as many rows as the inputs: `count`.
TensorMap BatchedOnly(const Subject& subject, const TensorMap& outputs, size_t count) {
  TensorMap batched;
  for (const NamedTensor& output : outputs) {
    const auto& names = subject.batch->outputs;
    const Dims& dims = output.tensor.dims();
    const bool rows = !dims.empty() && dims.front() == static_cast<int64_t>(count);
    const bool known = std::find(names.begin(), names.end(), output.name) != names.end();
    if (rows && known) batched.push_back(output);
  }
  return batched;
}

Result<TensorMap> RowsOf(const TensorMap& outputs, std::span<const int64_t> rows) {
  std::vector<std::string> names;
  for (const NamedTensor& output : outputs) names.push_back(output.name);
  return TakeRows(outputs, names, rows);
}

Result<TensorMap> InferRows(Subject& subject, std::span<const int64_t> rows) {
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed,
                           TakeRows(*subject.rows, subject.batch->inputs, rows));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap outputs, subject.probe->Infer(feed));
  TensorMap batched = BatchedOnly(subject, outputs, rows.size());
  if (batched.empty()) {
    return Malformed("no output has " + Counted(rows.size(), "row") + " as the inputs do");
  }
  return batched;
}

// Every row of `outputs` must be the first.
bool HoldEqualRows(const std::string& what, const TensorMap& outputs, int64_t count, Trial& trial) {
  const Result<TensorMap> first = RowsOf(outputs, std::vector<int64_t>{0});
  if (!first.ok()) return trial.Break(what, first.status().message());
  for (int64_t row = 1; row < count; ++row) {
    const Result<TensorMap> other = RowsOf(outputs, std::vector<int64_t>{row});
    if (!trial.Hold("row " + std::to_string(row) + " of " + what, *first, other)) return false;
  }
  return true;
}

PropertyRecord IdenticalRows(Subject& subject) {
  if (!subject.rows) return NotApplicable(subject.no_batch);
  Trial trial(subject);
  for (int64_t count = 2; count <= RowCount(subject); ++count) {
    const std::vector<int64_t> rows(static_cast<size_t>(count), 0);
    const Result<TensorMap> outputs = InferRows(subject, rows);
    const std::string what = "a batch of " + std::to_string(count) + " equal rows";
    if (!outputs.ok()) {
      trial.Break(what, outputs.status().message());
      break;
    }
    if (!HoldEqualRows(what, *outputs, count, trial)) break;
  }
  return trial.Finish("rows");
}

PropertyRecord PermutedRows(Subject& subject) {
  if (!subject.rows) return NotApplicable(subject.no_batch);
  Trial trial(subject);
  for (int64_t count = 2; count <= RowCount(subject); ++count) {
    const std::vector<int64_t> rows = AllRows(count);
    const std::vector<int64_t> reversed(rows.rbegin(), rows.rend());
    const std::string what = "a batch of " + std::to_string(count) + " rows reversed";
    const Result<TensorMap> straight = InferRows(subject, rows);
    const Result<TensorMap> back = InferRows(subject, reversed);
    if (!straight.ok() || !back.ok()) {
      trial.Break(what, (straight.ok() ? back : straight).status().message());
      break;
    }
    const Result<TensorMap> expected = RowsOf(*straight, reversed);
    if (!expected.ok()) {
      trial.Break(what, expected.status().message());
      break;
    }
    if (!trial.Hold(what, *expected, back)) break;
  }
  return trial.Finish("batches");
}

PropertyRecord BatchOfOne(Subject& subject) {
  if (!subject.rows) return NotApplicable(subject.no_batch);
  Trial trial(subject);
  for (int64_t count = 2; count <= RowCount(subject); ++count) {
    const std::string batch = "a batch of " + std::to_string(count);
    const Result<TensorMap> together = InferRows(subject, AllRows(count));
    if (!together.ok()) {
      trial.Break(batch, together.status().message());
      return trial.Finish("");
    }
    for (int64_t row = 0; row < count; ++row) {
      const std::vector<int64_t> one = {row};
      const Result<TensorMap> alone = InferRows(subject, one);
      const std::string what = "row " + std::to_string(row) + " of " + batch;
      if (!alone.ok()) {
        trial.Break(what + " alone", alone.status().message());
        return trial.Finish("");
      }
      if (!trial.Hold(what, *alone, RowsOf(*together, one))) return trial.Finish("");
    }
  }
  return trial.Finish("rows");
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

// Other shapes have no expected values; but they must run, and twice to the same result.
bool HoldTwice(Subject& subject, Trial& trial, const std::string& what, const TensorMap& feed) {
  const Result<TensorMap> once = subject.probe->Infer(feed);
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

// Those that --input-shapes gives in turn; the first of them is what all else is tried with.
PropertyRecord SweepGiven(Subject& subject, const std::vector<TensorMap>& feeds) {
  Trial trial(subject);
  for (const TensorMap& feed : feeds) {
    if (!HoldTwice(subject, trial, "inputs of the shapes " + ShapesOf(feed), feed)) break;
  }
  return trial.Finish("shapes");
}

PropertyRecord ShapeSweep(Subject& subject) {
  const Result<std::vector<TensorMap>> given = subject.draw_given();
  if (!given.ok()) return NotApplicable(given.status().message());
  if (given->size() > 1) return SweepGiven(subject, *given);
  const std::vector<std::string> dimensions = DynamicDimensions(subject);
  if (subject.probe->runner().inputs_unknown()) {
    return NotApplicable("the model does not tell which dimensions of its inputs are free");
  }
  if (dimensions.empty()) return NotApplicable("every dimension of the inputs is fixed");
  Trial trial(subject);
  for (const std::string& dimension : dimensions) {
    for (const int64_t size : kSweepSizes) {
      const Result<TensorMap> feed = subject.draw(dimension, size);
      if (!feed.ok()) return NotApplicable(feed.status().message());
      const std::string what = (dimension.empty() ? "dynamic dimensions" : "'" + dimension + "'") +
                               " of size " + std::to_string(size);
      if (!HoldTwice(subject, trial, what, *feed)) return trial.Finish("");
    }
  }
  return trial.Finish("shapes");
}

// Thread counts, optimisation levels and kinds of kernels, each by itself.
std::vector<std::pair<std::string, Circumstances>> SettingsToTry(std::string_view backend) {
  std::vector<std::pair<std::string, Circumstances>> settings;
  for (const NeutralSetting& setting : NeutralSettings()) {
    if (setting.backend != backend) continue;
    const std::string key(setting.key), value(setting.value);
    settings.emplace_back(key + "=" + value, Circumstances{.settings = {{key, value}}});
  }
  for (const NeutralEnvironment& environment : NeutralEnvironments()) {
    if (environment.backend != backend) continue;
    std::istringstream words{std::string(environment.variables)};
    Circumstances circumstances;
    circumstances.environment.assign(std::istream_iterator<std::string>(words), {});
    settings.emplace_back(environment.variables, std::move(circumstances));
  }
  return settings;
}

PropertyRecord OtherSettings(Subject& subject) {
  const auto settings = SettingsToTry(subject.plan.backend);
  if (settings.empty()) {
    return NotApplicable("no thread counts or optimisation levels of '" + subject.plan.backend +
                         "' can be set from here");
  }
  Trial trial(subject);
  for (const auto& [what, circumstances] : settings) {
    if (!trial.HoldAnew(what, InferAnew(subject, circumstances))) break;
  }
  return trial.Finish("settings");
}

constexpr Property kProperties[] = {
    {"repeated-runs", "the same outputs when the same inputs are fed again", RepeatedRuns},
    {"fresh-session", "the same outputs in another process", FreshSession},
    {"identical-rows", "the same outputs for every row of a batch of equal rows", IdenticalRows},
    {"permuted-rows", "the same outputs in another order when the rows of a batch are",
     PermutedRows},
    {"batch-of-one", "the same outputs for a row alone as within a batch", BatchOfOne},
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
