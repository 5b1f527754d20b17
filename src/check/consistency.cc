#include "check/consistency.h"

#include <algorithm>

#include "check/first_feed.h"
#include "check/memory_properties.h"
#include "check/properties.h"
#include "compare/comparison.h"
#include "compare/vacuous.h"
#include "kernels/magnitudes.h"
#include "run/described_inputs.h"
#include "run/output_names.h"
#include "run/pair_bars.h"

namespace vernier {
namespace {

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool Wanted(const ConsistencyOptions& options, std::string_view name) {
  return (options.only.empty() || Contains(options.only, name)) && !Contains(options.skip, name);
}

/// Keeps to itself what was said of the runner once already: sessions opened, shapes filled in.
class ErrorsOnly final : public Logger {
 public:
  explicit ErrorsOnly(Logger& logger) : logger_(logger) {}
  bool Enabled(Severity severity) const override {
    return severity >= Severity::kError && logger_.Enabled(severity);
  }
  void Write(Severity severity, std::string_view text, LogColor color, bool once) override {
    if (Enabled(severity)) logger_.Write(severity, text, color, once);
  }
  void Indent(int levels) override { logger_.Indent(levels); }

 private:
  Logger& logger_;
};

// Nothing would agree with nothing, whatever is tried.
Status NothingToCompare(const LiveRunner& runner) {
  std::string why = "it hands out no outputs that could be compared";
  for (const SkippedOutput& output : runner.skipped()) {
    why += "; '" + output.name + "': " + output.why;
  }
  return Malformed(why);
}

// Comparisons of a constant with itself call it so, too.
bool IsAllNan(const Tensor& tensor) {
  const Magnitudes found = MeasureMagnitudes(Elements(tensor));
  return found.count > 0 && found.nan_count == found.count;
}

ConsistencyCoverage CoverageOf(const LiveRunner& runner, const TensorMap& outputs) {
  ConsistencyCoverage coverage;
  for (const SkippedOutput& output : runner.skipped()) {
    coverage.not_compared.push_back({output.name, output.why});
  }
  for (const NamedTensor& output : outputs) {
    const Tensor& tensor = output.tensor;
    ++coverage.outputs;
    coverage.elements += tensor.element_count();
    // A tensor and itself are one in memory, which would be a reason of its own.
    const Result<Tensor> copy = Tensor::Copy(tensor.dtype(), tensor.dims(), tensor.bytes());
    const std::string why = IsAllNan(tensor) ? "all elements are NaN"
                            : copy.ok()      ? VacuousBecause(tensor, *copy)
                                             : "";
    if (!why.empty()) coverage.shows_nothing.push_back({output.name, why});
  }
  return coverage;
}

// Of what a runner gives; where it does not say what that is, what it gave.
Status CheckNames(const RunPlan& plan, const LiveRunner& runner, const TensorMap& outputs) {
  if (plan.lenient) return {};
  std::vector<std::string> names;
  for (const TensorInfo& output : runner.session().outputs) names.push_back(output.name);
  for (const NamedTensor& output : outputs) names.push_back(output.name);
  return CheckOutputNames(plan, names);
}

class RunnerCheck {
 public:
  RunnerCheck(const RunPlan& plan, const ConsistencyOptions& options, const Probe::Shared& shared,
              const PropertyObserver& observer)
      : plan_(plan),
        options_(options),
        shared_(shared),
        errors_only_(shared.logger),
        again_{shared.execution, shared.interrupted, errors_only_},
        observer_(observer) {}

  Result<ConsistencyRunner> Check(const RunnerPlan& runner) {
    record_ = {.name = runner.name, .backend = runner.backend};
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model,
                             ModelSource::Prepare(runner.model, shared_.logger));
    Result<std::unique_ptr<Probe>> probe = Probe::Open(shared_, runner, *model);
    if (!probe.ok()) return GiveUp(probe.status());
    record_.framework_version = (*probe)->runner().backend().framework_version;
    record_.precision = (*probe)->runner().session().precision;
    VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, Draw(**probe, {}, 0, shared_.logger));
    const Result<TensorMap> outputs = (*probe)->Infer(feed);
    if (!outputs.ok()) {
      const auto& taken = (*probe)->runner().session().inputs;
      return GiveUp(
          Explained(outputs.status(), runner, *model, feed, NoteOfFreeSizes(plan_.inputs, taken)));
    }
    VERNIER_TRY(CheckNames(plan_, (*probe)->runner(), *outputs));
    record_.coverage = CoverageOf((*probe)->runner(), *outputs);
    if (outputs->empty()) {
      record_.nothing_to_compare = true;
      return GiveUp(NothingToCompare((*probe)->runner()));
    }
    PairBars bars(plan_.compare);
    if (bars.wanted()) {
      bars.AddRunner(0, (*probe)->runner());
      bars.AddRunner(1, (*probe)->runner());
      bars.SetFeed(feed);
    }
    const ErrorBars& of_outputs = bars.wanted() ? bars.For(0, 1, *outputs) : no_bars_;
    Subject subject{.shared = again_,
                    .plan = runner,
                    .model = *model,
                    .probe = *probe,
                    .feed = feed,
                    .outputs = *outputs,
                    .compare = plan_.compare,
                    .bars = of_outputs,
                    .repeats = options_.repeats,
                    .batch = {},
                    .rows = {},
                    .no_batch = {},
                    .draw = {},
                    .draw_given = {}};
    subject.draw = [&](const std::string& dimension, int64_t size) {
      return Draw(*subject.probe, dimension, size, errors_only_);
    };
    subject.draw_given = [&] { return DrawGiven(*subject.probe); };
    AddBatch(subject);
    return TryAll(subject);
  }

 private:
  // Inputs of some size are mapped read-only: to write there is death.
  Status Explained(Status why, const RunnerPlan& runner, const ModelSource& model,
                   const TensorMap& feed, const std::string& note) const {
    if (why.code() != StatusCode::kBackend) return why;
    const std::string cause = ExplainDeath(again_, runner, model, feed);
    return BackendError(why.message() + (cause.empty() ? note : ": " + cause));
  }

  Result<ConsistencyRunner> GiveUp(const Status& why) {
    if (why.code() == StatusCode::kCancelled) return why;
    record_.failure = why.message();
    record_.unavailable = why.code() == StatusCode::kUnavailable;
    return record_;
  }

  // A feed for the runner; with a size, of which the dynamic dimension of that name has this size.
  Result<TensorMap> Draw(const Probe& probe, const std::optional<std::string>& dimension,
                         int64_t size, Logger& logger) {
    VERNIER_ASSIGN_OR_RETURN(std::vector<TensorInfo> inputs, probe.InputsToFeed(plan_.inputs));
    const bool drawn = plan_.inputs.load_paths.empty() && plan_.inputs.shape_words.empty() &&
                       !plan_.inputs.script.given();
    if (size > 0 && !drawn) return InvalidArgument("the shapes of the inputs are given");
    for (TensorInfo& input : inputs) {
      if (size == 0 || !input.shape) continue;
      for (Dim& dim : *input.shape) {
        if (dim.dynamic() && (!dimension || dim.symbol == *dimension)) dim = {size, {}};
      }
    }
    VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, MakeFirstFeed(plan_, inputs, shared_, logger));
    return probe.Coerce(feed, logger);
  }

  // A feed of each shape that is given; of one alone where they are not given by shapes.
  Result<std::vector<TensorMap>> DrawGiven(const Probe& probe) {
    if (plan_.inputs.shape_words.empty() || !plan_.inputs.load_paths.empty() ||
        plan_.inputs.script.given()) {
      return std::vector<TensorMap>();
    }
    VERNIER_ASSIGN_OR_RETURN(const std::vector<TensorInfo> inputs,
                             probe.InputsToFeed(plan_.inputs));
    VERNIER_ASSIGN_OR_RETURN(std::vector<TensorMap> feeds,
                             MakeGivenFeeds(plan_, inputs, shared_, errors_only_));
    for (TensorMap& feed : feeds) {
      VERNIER_ASSIGN_OR_RETURN(feed, probe.Coerce(feed, errors_only_));
    }
    return feeds;
  }

  void AddBatch(Subject& subject) {
    const LiveRunner& runner = subject.probe->runner();
    const SessionDescription& session = runner.session();
    Result<BatchNames> batch = runner.inputs_unknown() ? GuessBatch(subject.feed)
                                                       : FindBatch(session.inputs, session.outputs);
    if (!batch.ok()) {
      subject.no_batch = "no first dimension is shared by inputs and outputs and free to choose: " +
                         batch.status().message();
      return;
    }
    subject.rows = subject.feed;
    const int64_t given = Find(subject.feed, batch->inputs.front())->dims().front();
    if (given < 2) {
      Result<TensorMap> drawn = Draw(*subject.probe, batch->dimension, options_.rows, errors_only_);
      if (drawn.ok()) subject.rows = *std::move(drawn);
    }
    const int64_t rows = Find(*subject.rows, batch->inputs.front())->dims().front();
    if (rows < 2) {
      subject.no_batch =
          std::string("the inputs given have ") + (rows == 1 ? "one row" : "no rows");
    } else if (!batch->possible.empty() || batch->outputs.empty()) {
      subject.no_batch = AskForRows(subject, *batch, rows);
    }
    if (!subject.no_batch.empty()) subject.rows.reset();
    subject.batch = *std::move(batch);
  }

  // Outputs that do not tell their first dimension have the rows of the inputs when they follow
  // them twice. A reason where that leaves none.
  std::string AskForRows(Subject& subject, BatchNames& batch, int64_t rows) {
    const Result<TensorMap> one = TakeRows(*subject.rows, batch.inputs, std::vector<int64_t>{0});
    if (!one.ok()) return one.status().message();
    // Not the subject's own: the first run that is repeated is to be its second.
    const Result<std::unique_ptr<Probe>> probe =
        Probe::Open(subject.shared, subject.plan, subject.model);
    if (!probe.ok()) return probe.status().message();
    const Result<TensorMap> of_one = (*probe)->Infer(*one);
    const Result<TensorMap> of_all = (*probe)->Infer(*subject.rows);
    // A process that dies of rows has broken what is tried with them.
    if (of_one.ok() && !of_all.ok() && !(*probe)->Infer(*one).ok()) {
      batch = KeepFollowers(std::move(batch), {*of_one, 1}, {*of_one, 1});
      return "";
    }
    if (!of_one.ok() || !of_all.ok()) {
      return "the model does not say which outputs have the rows of its inputs, and it does not "
             "run "
             "with " +
             std::string(of_all.ok() ? "1" : std::to_string(rows)) +
             " of them: " + (of_all.ok() ? of_one : of_all).status().message();
    }
    batch = KeepFollowers(std::move(batch), {*of_one, 1}, {*of_all, rows});
    return batch.outputs.empty()
               ? "no output has 1 row where the inputs have 1, and " + std::to_string(rows) +
                     " where they have " + std::to_string(rows)
               : "";
  }

  Result<ConsistencyRunner> TryAll(Subject& subject) {
    for (const Property& property : Properties()) {
      if (!Wanted(options_, property.name)) continue;
      if (shared_.interrupted.load() != 0) return Cancelled("interrupted");
      PropertyRecord record = property.check(subject);
      if (shared_.interrupted.load() != 0) return Cancelled("interrupted");
      record.name = property.name;
      record.meaning = property.meaning;
      observer_(record_, record);
      const bool broken = record.verdict == PropertyVerdict::kBroken;
      record_.properties.push_back(std::move(record));
      if (!broken) continue;
      // What broke it may have killed the process, or left its mark on it.
      Result<std::unique_ptr<Probe>> fresh =
          Probe::Open(subject.shared, subject.plan, subject.model);
      if (fresh.ok()) subject.probe = *std::move(fresh);
    }
    // A framework that dies at its end has delivered everything.
    (void)subject.probe->Close();
    return record_;
  }

  const RunPlan& plan_;
  const ConsistencyOptions& options_;
  const Probe::Shared& shared_;
  ErrorsOnly errors_only_;
  const Probe::Shared again_;  // for everything after the first run
  const PropertyObserver& observer_;
  const ErrorBars no_bars_;
  ConsistencyRunner record_;
};

}  // namespace

Status CheckPropertyNames(const ConsistencyOptions& options) {
  for (const std::vector<std::string>* names : {&options.only, &options.skip}) {
    for (const std::string& name : *names) {
      const auto properties = Properties();
      const bool known = std::any_of(properties.begin(), properties.end(),
                                     [&](const Property& p) { return p.name == name; });
      if (known) continue;
      std::string all;
      for (const Property& property : properties) {
        all += (all.empty() ? "" : ", ") + std::string(property.name);
      }
      return InvalidArgument("there is no property '" + name + "'; there are " + all);
    }
  }
  return {};
}

Result<ConsistencyRecord> CheckConsistency(const RunPlan& plan, const ConsistencyOptions& options,
                                           const std::atomic<int>& interrupted, Logger& logger,
                                           const PropertyObserver& observer) {
  VERNIER_TRY(CheckPropertyNames(options));
  const Probe::Shared shared{plan.execution, interrupted, logger};
  ConsistencyRecord record;
  for (const RunnerPlan& runner : plan.runners) {
    RunnerCheck check(plan, options, shared, observer);
    VERNIER_ASSIGN_OR_RETURN(ConsistencyRunner done, check.Check(runner));
    record.runners.push_back(std::move(done));
  }
  return record;
}

}  // namespace vernier
