#include "check/properties/consistency.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "check/properties/memory_properties.h"
#include "check/properties/properties.h"
#include "check/properties/runner_bench.h"
#include "check/runners/probe_sizes.h"
#include "check/runners/sample_drawer.h"
#include "compare/functions/comparison.h"
#include "compare/functions/vacuous.h"
#include "kernels/measures/magnitudes.h"
#include "run/comparison/output_names.h"
#include "run/feeds/undeclared_inputs.h"
#include "run/workers/held_log.h"
#include "util/log/forwarding_log.h"
#include "util/text/close_matches.h"
#include "util/text/first_line.h"
#include "util/values/list_has.h"
#include "util/values/plural_text.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

bool Wanted(const ConsistencyOptions& options, std::string_view name) {
  return (options.only.empty() || ListHas(options.only, name)) && !ListHas(options.skip, name);
}

// Keeps to itself what was said of the runner once already: sessions opened, shapes filled in.
std::optional<ForwardingLog::Line> ErrorsOnly(Severity severity) {
  if (severity < Severity::kError) return std::nullopt;
  return ForwardingLog::Line{severity};
}

// Nothing would agree with nothing, whatever is tried.
Status NothingToCompare(const RunnerSession& runner) {
  std::string why = "it returns no outputs that could be compared";
  for (const SkippedOutput& output : runner.skipped().all()) {
    why += "; '" + output.name + "': " + output.why;
  }
  return Malformed(why);
}

// Comparisons of a constant with itself call it so, too.
bool IsAllNan(const Tensor& tensor) {
  const Magnitudes found = MeasureMagnitudes(Elements(tensor));
  return found.count > 0 && found.nan_count == found.count;
}

// Of a sequence, map or optional there are parts, by the names of which it is one.
int64_t CountOutputs(const TensorMap& outputs) {
  std::set<std::string> wholes, counted;
  for (const NamedTensor& output : outputs) {
    if (std::string whole = WholeOf(output.name); !whole.empty()) wholes.insert(std::move(whole));
  }
  for (const NamedTensor& output : outputs) {
    // The shortest: parts may have parts.
    const auto whole = std::ranges::find_if(
        wholes, [&](const std::string& name) { return IsPartOf(output.name, name); });
    counted.insert(whole == wholes.end() ? output.name : *whole);
  }
  return std::ssize(counted);
}

ConsistencyCoverage CoverageOf(const RunnerSession& runner, const TensorMap& outputs) {
  ConsistencyCoverage coverage;
  for (const SkippedOutput& output : runner.skipped().all()) {
    coverage.not_compared.push_back({output.name, output.why});
  }
  coverage.outputs = CountOutputs(outputs);
  for (const NamedTensor& output : outputs) {
    const Tensor& tensor = output.tensor;
    coverage.elements += tensor.element_count();
    // A tensor and itself are one in memory, which would be a reason of its own.
    const Result<Tensor> copy = Tensor::Copy(tensor.dtype(), tensor.dims(), tensor.bytes());
    const std::string why = IsAllNan(tensor) ? std::string(kAllNan)
                            : copy.ok()      ? VacuousBecause(tensor, *copy)
                                             : "";
    if (!why.empty()) coverage.shows_nothing.push_back({output.name, why});
  }
  return coverage;
}

// NaN on both sides is no difference, whatever is tried: classes that are never numbers pass.
void NoteSomeNan(const std::string& runner, const TensorMap& outputs, Logger& logger) {
  for (const NamedTensor& output : outputs) {
    const Magnitudes found = MeasureMagnitudes(Elements(output.tensor));
    if (found.nan_count == 0 || found.nan_count == found.count) continue;
    logger.Warning(runner + " | output '" + output.name + "': " + std::to_string(found.nan_count) +
                   " of " + Counted(found.count, "element") +
                   " are NaN, of which nothing is shown: NaN each time is no difference here");
  }
}

// Of what a runner gives; where it does not say what that is, what it gave.
Status CheckNames(const RunPlan& plan, const RunnerSession& runner, const TensorMap& outputs) {
  if (plan.lenient) return {};
  std::vector<std::string> names;
  for (const TensorInfo& output : runner.session().outputs) names.push_back(output.name);
  for (const NamedTensor& output : outputs) names.push_back(output.name);
  return CheckOutputNames(plan, names);
}

// A runner under examination.
struct Examined {
  const RunnerPlan& plan;
  const ModelSource& model;
  std::unique_ptr<Probe>& probe;
};

// Its first inference, with sizes that it takes where there are some.
struct FirstRun {
  RunPlan plan;    // with the sizes that were found
  TensorMap feed;  // in the runner's own names and types
  Result<TensorMap> outputs;
  int64_t tried_sizes = 0;       // beside those of the plan
  std::string sizes_found = {};  // a sentence; empty: none were
};

// What everything is tried with.
struct Samples {
  std::vector<Sample> all;  // the default, then perhaps a larger one
  std::string sizes;        // what is to be said of them; may be empty
};

class RunnerCheck {
 public:
  RunnerCheck(const ConsistencyOptions& options, const Probe::Shared& shared,
              const PropertyObserver& observer)
      : options_(options),
        shared_(shared),
        errors_only_(shared.logger, ErrorsOnly),
        again_{shared.execution, shared.interrupted, errors_only_,
               shared.caller,    shared.resets,      shared.with_parts},
        observer_(observer) {}

  Result<ConsistencyRunner> Check(const RunPlan& plan, const RunnerPlan& runner) {
    ConsistencyRunner record{.name = runner.name, .backend = runner.backend};
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model,
                             ModelSource::Prepare(runner.model, shared_.logger));
    Result<std::unique_ptr<Probe>> probe = Probe::Open(shared_, runner, *model);
    if (!probe.ok()) return GiveUp(std::move(record), probe.status());
    const RunnerSession& live = (*probe)->runner();
    record.framework_version = live.backend().framework_version;
    record.precision = live.session().precision;
    const Examined examined{runner, *model, *probe};
    VERNIER_ASSIGN_OR_RETURN(const FirstRun first, RunFirst(plan, examined));
    record.sizes_found = first.sizes_found;
    if (!first.outputs.ok()) return GiveUp(std::move(record), Explained(first, examined));
    VERNIER_TRY(CheckNames(first.plan, live, *first.outputs));
    record.coverage = CoverageOf(live, *first.outputs);
    if (first.outputs->empty()) {
      record.nothing_to_compare = true;
      return GiveUp(std::move(record), NothingToCompare(live));
    }
    VERNIER_ASSIGN_OR_RETURN(const Samples samples, DrawSamples(first, examined));
    if (samples.all.size() > 1) record.coverage = CoverageOf(live, samples.all.back().outputs);
    NoteSomeNan(runner.name, samples.all.back().outputs, shared_.logger);
    return TryAll(std::move(record), first, samples, examined);
  }

 private:
  static Result<ConsistencyRunner> GiveUp(ConsistencyRunner record, const Status& why) {
    if (why.code() == StatusCode::kCancelled) return why;
    record.failure = why.message();
    record.unavailable = why.code() == StatusCode::kUnavailable;
    return record;
  }

  Result<FirstRun> RunFirst(const RunPlan& plan, const Examined& examined) {
    HeldLog drawing;
    Result<FirstRun> first = RunFirst(plan, examined, drawing);
    // That sizes are taken as 1 is not said of a feed that others took the place of.
    if (!first.ok() || first->plan.inputs.found_dims.empty()) drawing.WriteTo(shared_.logger);
    return first;
  }

  Result<FirstRun> RunFirst(const RunPlan& plan, const Examined& examined, Logger& drawing) {
    Probe& probe = *examined.probe;
    VERNIER_ASSIGN_OR_RETURN(TensorMap feed, SampleDrawer(plan, shared_).Default(probe, drawing));
    Result<TensorMap> outputs = probe.Infer(feed);
    FirstRun first{plan, std::move(feed), std::move(outputs)};
    first.plan.inputs.found_dims.clear();
    // Before sizes that were not given make a failure of it.
    const Result<bool> full = AllHaveElements(first.outputs);
    if (!WhyNotSizeOne(full)) return first;
    VERNIER_ASSIGN_OR_RETURN(FoundSizes found, FindProbeSizes(first.plan, shared_, full, probe));
    first.tried_sizes = found.tried_for_note();
    if (!found.unsteady.ok()) first.outputs = found.unsteady;
    if (found.dims.empty()) return first;
    first.plan.inputs.found_dims = std::move(found.dims);
    first.sizes_found = found.note;
    shared_.logger.Warning(examined.plan.name + " | " + found.note);
    VERNIER_ASSIGN_OR_RETURN(first.feed, probe.Coerce(found.feed, errors_only_));
    VERNIER_TRY(SampleDrawer(plan, shared_).CheckTokens(probe, first.feed, errors_only_));
    first.outputs = probe.Infer(first.feed);
    return first;
  }

  // Why the first inference failed. Inputs of some size are mapped read-only: to write there is
  // death.
  Status Explained(const FirstRun& first, const Examined& examined) const {
    const Status& why = first.outputs.status();
    if (why.code() != StatusCode::kBackend) return why;
    const std::string cause = ExplainDeath(again_, examined.plan, examined.model, first.feed);
    if (!cause.empty()) return BackendError(why.message() + ": " + cause);
    return BackendError(why.message() + NoteOfFreeSizes(first.plan.inputs,
                                                        examined.probe->runner().session().inputs,
                                                        first.tried_sizes));
  }

  // What is more than 1 and runs, beside what is 1: an element or a row of one has little in it
  // that could go wrong. In a process of its own, as the subject's first repeated run is to be its
  // second.
  Result<Samples> DrawSamples(const FirstRun& first, const Examined& examined) {
    Samples samples{{{first.feed, *first.outputs, ""}}, ""};
    samples.all.front().later = GoOn(*examined.probe, first.feed);
    // Some runtimes cannot be reset any more once they have refused an inference.
    const bool refused = !samples.all.front().later.failure.ok();
    if (refused || examined.probe->runner().lost_worker()) {
      VERNIER_ASSIGN_OR_RETURN(examined.probe, Probe::Open(again_, examined.plan, examined.model));
    }
    Result<TensorMap> larger =
        SampleDrawer(first.plan, shared_)
            .WithSizes(*examined.probe, first.feed, {.others = kLargerSize}, errors_only_);
    if (!larger.ok() || SameShapes(first.feed, *larger)) return samples;
    const std::string size = std::to_string(kLargerSize);
    const std::string small = first.plan.inputs.found_dims.empty() ? "free dimensions of size 1"
                                                                   : "free dimensions as found";
    Result<Sample> sample = InferBoth(examined, first.feed, *std::move(larger));
    if (sample.status().code() == StatusCode::kCancelled) return samples;
    if (!sample.ok()) {
      samples.sizes = small + ", as it does not run with " + size;
      shared_.logger.Info(examined.plan.name + " | does not run with free dimensions of size " +
                          size + ": " + FirstLine(sample.status().message()));
      return samples;
    }
    samples.sizes = small + ", then " + size;
    sample->size = ", free dimensions of size " + size;
    samples.all.push_back(*std::move(sample));
    return samples;
  }

  // A model that keeps state is looked at for as long as its state may need to show.
  Probe::Continuation GoOn(Probe& probe, const TensorMap& feed) const {
    return probe.runner().keeps_state() ? probe.GoOn(feed, options_.steps - 1)
                                        : Probe::Continuation();
  }

  // What is made of the second feed where the first was fed before.
  Result<Sample> InferBoth(const Examined& examined, const TensorMap& first,
                           TensorMap second) const {
    VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Probe> probe,
                             Probe::Open(again_, examined.plan, examined.model));
    VERNIER_TRY(probe->Infer(first).status());
    VERNIER_ASSIGN_OR_RETURN(TensorMap outputs, probe->Infer(second));
    Probe::Continuation later = GoOn(*probe, second);
    return Sample{std::move(second), std::move(outputs), "", std::move(later)};
  }

  Result<ConsistencyRunner> TryAll(ConsistencyRunner record, const FirstRun& first,
                                   const Samples& samples, const Examined& examined) {
    const ProbedRunner runner{again_, examined.plan, examined.model};
    RunnerBench bench({.plan = first.plan,
                       .drawer = {first.plan, shared_},
                       .runner = runner,
                       .probe = examined.probe,
                       .feed = first.feed,
                       .outputs = *first.outputs,
                       .rows = options_.rows});
    Subject subject{.runner = runner,
                    .probe = examined.probe,
                    .samples = samples.all,
                    .sizes = samples.sizes,
                    .refuses_sizes = !first.plan.inputs.found_dims.empty(),
                    .compare = first.plan.compare,
                    .bounds = bench.bounds(),
                    .repeats = options_.repeats,
                    .bench = bench};
    return TryProperties(std::move(record), subject);
  }

  Result<ConsistencyRunner> TryProperties(ConsistencyRunner done, Subject& subject) const {
    for (const Property& property : Properties()) {
      if (!Wanted(options_, property.name)) continue;
      if (shared_.interrupted.load() != 0) return Cancelled("interrupted");
      PropertyRecord record = property.check(subject);
      if (shared_.interrupted.load() != 0) return Cancelled("interrupted");
      record.name = property.name;
      record.meaning = property.meaning;
      if (!record.left_out.empty()) done.coverage.no_rows = record.left_out;
      observer_(done, record);
      const bool broken = record.verdict == PropertyVerdict::kBroken;
      done.properties.push_back(std::move(record));
      // A size that was only tried may have killed the process, and what is broken may have left
      // its mark on it.
      if (!broken && !subject.probe->runner().lost_worker()) continue;
      Result<std::unique_ptr<Probe>> fresh = subject.runner.Open();
      if (fresh.ok()) subject.probe = *std::move(fresh);
    }
    // A framework that dies at its end has delivered everything.
    (void)subject.probe->Close();
    return done;
  }

  const ConsistencyOptions& options_;
  const Probe::Shared& shared_;
  ForwardingLog errors_only_;
  const Probe::Shared again_;  // for everything after the first run
  const PropertyObserver& observer_;
};

}  // namespace

Status CheckPropertyNames(const ConsistencyOptions& options) {
  std::vector<std::string_view> all;
  for (const Property& property : Properties()) all.emplace_back(property.name);
  VERNIER_TRY(CheckNames(options.only, {"--only", "a property", "properties", all}));
  return CheckNames(options.skip, {"--skip", "a property", "properties", all});
}

Result<ConsistencyRecord> CheckConsistency(const RunPlan& plan, const ConsistencyOptions& options,
                                           const Probe::Shared& shared,
                                           const PropertyObserver& observer) {
  VERNIER_TRY(CheckPropertyNames(options));
  ConsistencyRecord record;
  RunnerCheck check(options, shared, observer);
  for (const RunnerPlan& runner : plan.runners) {
    VERNIER_ASSIGN_OR_RETURN(ConsistencyRunner done, check.Check(plan, runner));
    record.runners.push_back(std::move(done));
  }
  return record;
}

}  // namespace vernier
