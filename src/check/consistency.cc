#include "check/consistency.h"

#include <algorithm>

#include "check/memory_properties.h"
#include "check/probe_sizes.h"
#include "check/properties.h"
#include "check/row_scout.h"
#include "check/sample_drawer.h"
#include "compare/comparison.h"
#include "compare/vacuous.h"
#include "kernels/magnitudes.h"
#include "run/comparison/output_names.h"
#include "run/comparison/pair_error_bounds.h"
#include "run/feeds/described_inputs.h"
#include "util/first_line.h"

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

// A model that is no ONNX tells nothing.
std::vector<MeetingRows> MeetingIn(const ModelPlan& plan, std::span<const std::string> inputs,
                                   std::span<const std::string> outputs) {
  if (plan.type != "onnx") return {};
  const Result<OnnxModel> model = OnnxModel::Open(plan.path);
  return model.ok() ? FindMeetingRows(*model, inputs, outputs) : std::vector<MeetingRows>();
}

class RunnerCheck {
 public:
  RunnerCheck(const RunPlan& plan, const ConsistencyOptions& options, const Probe::Shared& shared,
              const PropertyObserver& observer)
      : plan_(plan),
        options_(options),
        shared_(shared),
        errors_only_(shared.logger),
        again_{shared.execution, shared.interrupted, errors_only_, shared.caller},
        drawer_(plan_, shared),
        observer_(observer) {}

  Result<ConsistencyRunner> Check(const RunnerPlan& runner) {
    record_ = {.name = runner.name, .backend = runner.backend};
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model,
                             ModelSource::Prepare(runner.model, shared_.logger));
    Result<std::unique_ptr<Probe>> probe = Probe::Open(shared_, runner, *model);
    if (!probe.ok()) return GiveUp(probe.status());
    record_.framework_version = (*probe)->runner().backend().framework_version;
    record_.precision = (*probe)->runner().session().precision;
    VERNIER_ASSIGN_OR_RETURN(TensorMap feed, drawer_.Default(**probe, shared_.logger));
    Result<TensorMap> outputs = (*probe)->Infer(feed);
    VERNIER_ASSIGN_OR_RETURN(const int64_t tried, TryOtherSizes(**probe, feed, outputs));
    if (!outputs.ok()) {
      const auto& taken = (*probe)->runner().session().inputs;
      return GiveUp(Explained(outputs.status(), runner, *model, feed,
                              NoteOfFreeSizes(plan_.inputs, taken, tried)));
    }
    VERNIER_TRY(CheckNames(plan_, (*probe)->runner(), *outputs));
    record_.coverage = CoverageOf((*probe)->runner(), *outputs);
    samples_ = {{feed, *outputs, ""}};
    if (outputs->empty()) {
      record_.nothing_to_compare = true;
      return GiveUp(NothingToCompare((*probe)->runner()));
    }
    AddLarger(runner, *model, **probe);
    if (samples_.size() > 1) {
      record_.coverage = CoverageOf((*probe)->runner(), samples_.back().outputs);
    }
    PairErrorBounds bounds(plan_.compare);
    if (bounds.wanted()) {
      bounds.AddRunner(0, (*probe)->runner());
      bounds.AddRunner(1, (*probe)->runner());
      bounds.SetFeed(feed);
    }
    const ErrorBounds& of_outputs = bounds.wanted() ? bounds.For(0, 1, *outputs) : no_bounds_;
    Subject subject{.shared = again_,
                    .plan = runner,
                    .model = *model,
                    .probe = *probe,
                    .samples = samples_,
                    .sizes = sizes_,
                    .refuses_sizes = !plan_.inputs.found_dims.empty(),
                    .compare = plan_.compare,
                    .bounds = of_outputs,
                    .repeats = options_.repeats,
                    .row_plan = {},
                    .draw = {},
                    .draw_given = {}};
    subject.draw = [&](const FreeSizes& sizes) {
      return drawer_.WithSizes(*subject.probe, feed, sizes, errors_only_);
    };
    subject.draw_given = [&] { return drawer_.OfGivenShapes(*subject.probe, errors_only_); };
    std::optional<RowPlan> rows;
    subject.row_plan = [&]() -> const RowPlan& {
      if (!rows) {
        rows = ScoutRows(
            {.probe = *subject.probe,
             .feed = feed,
             .rows = options_.rows,
             .draw = subject.draw,
             .open = [&] { return Probe::Open(again_, runner, *model); },
             .meeting = [&](auto inputs,
                            auto outputs) { return MeetingIn(runner.model, inputs, outputs); }});
      }
      return *rows;
    };
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

  // Before sizes that nobody gave make a failure of it. How many were tried.
  Result<int64_t> TryOtherSizes(Probe& probe, TensorMap& feed, Result<TensorMap>& outputs) {
    plan_.inputs.found_dims.clear();  // of the runner before
    if (!WhyNotSizeOne(AllHaveElements(outputs))) return 0;
    VERNIER_ASSIGN_OR_RETURN(FoundSizes found,
                             FindProbeSizes(plan_, shared_, AllHaveElements(outputs), probe));
    if (!found.unsteady.ok()) outputs = found.unsteady;
    if (found.dims.empty()) return found.tried;
    plan_.inputs.found_dims = std::move(found.dims);
    record_.sizes_found = found.note;
    shared_.logger.Warning(record_.name + " | " + found.note);
    VERNIER_ASSIGN_OR_RETURN(feed, probe.Coerce(found.feed, errors_only_));
    outputs = probe.Infer(feed);
    return found.tried;
  }

  // What is more than 1 and runs, beside what is 1: an element or a row of one has little in it
  // that could go wrong. In a process of its own, as the subject's first repeated run is to be its
  // second.
  void AddLarger(const RunnerPlan& runner, const ModelSource& model, const Probe& probe) {
    const TensorMap& base = samples_.front().feed;
    Result<TensorMap> larger =
        drawer_.WithSizes(probe, base, {.others = kLargerSize}, errors_only_);
    if (!larger.ok() || SameShapes(base, *larger)) return;
    const std::string size = std::to_string(kLargerSize);
    const std::string small =
        plan_.inputs.found_dims.empty() ? "free dimensions of size 1" : "free dimensions as found";
    const Result<std::vector<TensorMap>> outputs = InferBoth(runner, model, base, *larger);
    if (outputs.status().code() == StatusCode::kCancelled) return;
    if (!outputs.ok()) {
      sizes_ = small + ", as it does not run with " + size;
      shared_.logger.Info(runner.name + " | does not run with free dimensions of size " + size +
                          ": " + FirstLine(outputs.status().message()));
      return;
    }
    sizes_ = small + ", then " + size;
    samples_.push_back({*std::move(larger), outputs->back(), ", free dimensions of size " + size});
  }

  Result<std::vector<TensorMap>> InferBoth(const RunnerPlan& runner, const ModelSource& model,
                                           const TensorMap& first, const TensorMap& second) {
    VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Probe> probe,
                             Probe::Open(again_, runner, model));
    std::vector<TensorMap> outputs;
    for (const TensorMap* feed : {&first, &second}) {
      VERNIER_ASSIGN_OR_RETURN(TensorMap some, probe->Infer(*feed));
      outputs.push_back(std::move(some));
    }
    return outputs;
  }

  Result<ConsistencyRunner> TryAll(Subject& subject) {
    for (const Property& property : Properties()) {
      if (!Wanted(options_, property.name)) continue;
      if (shared_.interrupted.load() != 0) return Cancelled("interrupted");
      PropertyRecord record = property.check(subject);
      if (shared_.interrupted.load() != 0) return Cancelled("interrupted");
      record.name = property.name;
      record.meaning = property.meaning;
      if (!record.left_out.empty()) record_.coverage.no_rows = record.left_out;
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

  RunPlan plan_;  // with the sizes that are found
  const ConsistencyOptions& options_;
  const Probe::Shared& shared_;
  ErrorsOnly errors_only_;
  const Probe::Shared again_;  // for everything after the first run
  const SampleDrawer drawer_;
  const PropertyObserver& observer_;
  const ErrorBounds no_bounds_;
  std::vector<Sample> samples_;
  std::string sizes_;
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
                                           const Probe::Shared& shared,
                                           const PropertyObserver& observer) {
  VERNIER_TRY(CheckPropertyNames(options));
  ConsistencyRecord record;
  for (const RunnerPlan& runner : plan.runners) {
    RunnerCheck check(plan, options, shared, observer);
    VERNIER_ASSIGN_OR_RETURN(ConsistencyRunner done, check.Check(runner));
    record.runners.push_back(std::move(done));
  }
  return record;
}

}  // namespace vernier
