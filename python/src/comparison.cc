// Arrays of the Python program against each other: ComparisonRun, one iteration at a time.
#include "run/comparison/comparison_run.h"

#include "backend/worker/script_client.h"
#include "bindings.h"
#include "caller.h"
#include "option_words.h"
#include "options/bind/bind_run.h"
#include "options/bind/describe_origin.h"
#include "options/table/command_options.h"
#include "own_thread.h"
#include "python_logger.h"
#include "report/run/run_reporter.h"
#include "run/comparison/output_names.h"
#include "run/feeds/run_scripts.h"
#include "run/labels/sample_labels.h"
#include "run/saved/self_comparisons.h"
#include "run/workers/embedder.h"
#include "run/workers/worker_pool.h"
#include "session/plan/decision_check.h"
#include "session/run/run_session.h"
#include "status_error.h"
#include "vernier/compare_options.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

using Sides = std::vector<std::optional<IterationTuple>>;

// Functions of the Python program that judge or change outputs, where no run opens them.
class ComparisonScripts {
 public:
  // All must outlive it.
  ComparisonScripts(const RunPlan& plan, const OwnThread& thread, Logger& logger,
                    const Embedder& objects)
      : plan_(plan), pool_{plan.execution, thread.interrupted(), logger, &objects} {}

  // Opens what the plan names. What is returned must not outlive this.
  Result<ComparisonParts::Scripts> Open() {
    VERNIER_TRY(Open(plan_.compare_script, ScriptRole::kComparison, comparison_));
    VERNIER_TRY(Open(plan_.postprocess_script, ScriptRole::kPostprocessing, postprocessing_));
    ComparisonParts::Scripts scripts{comparison_.get(), postprocessing_.get()};
    if (!WantsDecisions(plan_)) return scripts;
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, pool_.GetForScripts());
    VERNIER_ASSIGN_OR_RETURN(decisions_, OpenDecisions(plan_, worker));
    for (const auto& client : decisions_) scripts.decisions.push_back(client.get());
    return scripts;
  }

 private:
  Status Open(const ScriptFunction& script, ScriptRole role, std::unique_ptr<ScriptClient>& out) {
    if (!script.given()) return {};
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, pool_.GetForScripts());
    VERNIER_ASSIGN_OR_RETURN(out, ScriptClient::Open(worker, static_cast<uint64_t>(role), role,
                                                     {script.path, script.function}));
    return {};
  }

  const RunPlan& plan_;
  WorkerPool pool_;
  std::unique_ptr<ScriptClient> comparison_;
  std::unique_ptr<ScriptClient> postprocessing_;
  std::vector<std::unique_ptr<ScriptClient>> decisions_;
};

class Comparison {
 public:
  Comparison(CallOptions options, std::vector<std::string> names, const nb::dict& said,
             nb::object log, int threshold)
      : logger_(std::move(log), threshold), caller_(Caller::From(said)), names_(std::move(names)) {
    // Records have it in the place of the command's files.
    options.insert(options.begin(), {"files", {{"", nb::none(), "arrays"}}});
    words_ = Check(ReadOptions("compare", options, logger_));
    Check(caller_.CheckOptions(words_.args, "func"));
    plan_ = Check(BindRun(words_.args, words_.invocation, logger_));
    Check(CheckAverageOptions(plan_.compare));
    Check(CheckDecisions(plan_));
    labels_.emplace(Check(RunLabels::Open(plan_.decisions, plan_.inputs)));
    plan_.load_outputs.clear();
    plan_.comparison_asked = true;
    caller_.JoinPlan({}, plan_);
    reporter_.emplace(logger_, plan_, true);
    bounds_.emplace(plan_.compare);
    objects_ = caller_.Objects(false);
    scripts_.emplace(plan_, thread_, logger_, objects_);
    pairs_ = Check(ComparedPairs::Find(plan_, names_, false));
    MakeRun({});
  }

  // False when nothing more is to be compared.
  bool Add(Sides sides) {
    IterationOutputs outputs;
    for (std::optional<IterationTuple>& side : sides) {
      outputs.push_back(side ? std::optional(ToResult(*std::move(side))) : std::nullopt);
    }
    Result<bool> go_on = Internal("not done");
    thread_.Do([&] { go_on = Compare(outputs); });
    // Arrays of Python are let go here, where the GIL is held.
    outputs.clear();
    return Check(std::move(go_on));
  }

  // The record as JSON, and the exit code. `notes` are for the record.
  std::pair<std::string, int> Finish(const std::vector<int64_t>& lengths,
                                     std::vector<std::string> notes) {
    RunOutcome outcome;
    RunRecord& record = outcome.record;
    record.notes = std::move(notes);
    RunFaults& faults = outcome.faults;
    record.averaged = plan_.compare->check_average;
    std::vector<StreamLength> streams;
    for (const int64_t made : lengths) streams.push_back({made, made});
    run_->Finish(streams, Coverage::kJudged, faults, record);
    if (plan_.strict) RejectVacuous(outcome);
    for (const Status& written : {FinishReport(!faults.any()), run_->flips().Save(record)}) {
      if (written.ok()) continue;
      faults.Add(written);
      record.faults.push_back(written.message());
    }
    SessionContext context{logger_, thread_.interrupted()};
    context.origin = DescribeOrigin(words_.args, CompareOptionTable(), words_.invocation);
    FinishRecord(plan_, context, outcome);
    return {ToJson(record), record.exit_code};
  }

  // Lets go of the Python program's functions; nothing can be compared any more.
  void Close() {
    thread_.Do([this] {
      run_.reset();
      scripts_.reset();
    });
  }

 private:
  Result<bool> Compare(IterationOutputs& outputs) {
    if (iteration_ == 0) VERNIER_TRY(Begin(outputs));
    if (thread_.interrupted() != 0) return Cancelled("interrupted");
    return run_->Compare(iteration_++, outputs);
  }

  Status Begin(const IterationOutputs& outputs) {
    std::vector<std::string> known;
    for (const auto& side : outputs) {
      if (!side) continue;
      for (const NamedTensor& output : side->outputs) known.push_back(output.name);
    }
    if (!plan_.lenient) VERNIER_TRY(CheckOutputNames(plan_, known));
    VERNIER_ASSIGN_OR_RETURN(const ComparisonParts::Scripts scripts, scripts_->Open());
    MakeRun(scripts);  // nothing was compared yet
    return {};
  }

  // Writes what was asked for; the first error. `well`: nothing else went wrong.
  Status FinishReport(bool well) {
    const Status saved = reporter_->SaveAccuracy();
    const Status drawn = reporter_->FinishPictures(well && saved.ok());
    return saved.ok() ? drawn : saved;
  }

  void MakeRun(const ComparisonParts::Scripts& scripts) {
    const Instruments instruments{.bounds = bounds_->wanted() ? &*bounds_ : nullptr,
                                  .interrupted = &thread_.interrupted()};
    ComparisonParts parts;
    parts.scripts = scripts;
    parts.labels = &*labels_;
    parts.may_keep = false;  // arrays of Python are let go where the GIL is held
    run_.emplace(plan_, pairs_, instruments, parts, *reporter_);
  }

  PythonLogger logger_;
  Caller caller_;
  Embedder objects_;
  std::vector<std::string> names_;
  Words words_;
  RunPlan plan_;
  OwnThread thread_;
  std::optional<RunReporter> reporter_;
  std::optional<PairErrorBounds> bounds_;
  std::optional<RunLabels> labels_;
  std::optional<ComparisonScripts> scripts_;
  ComparedPairs pairs_;
  std::optional<ComparisonRun> run_;
  int64_t iteration_ = 0;
};

}  // namespace

void BindComparison(nb::module_& module) {
  nb::class_<Comparison>(module, "Comparison")
      .def(nb::init<CallOptions, std::vector<std::string>, const nb::dict&, nb::object, int>(),
           nb::arg("options"), nb::arg("names"), nb::arg("caller"), nb::arg("log"),
           nb::arg("threshold"))
      .def("add", &Comparison::Add)
      .def("finish", &Comparison::Finish, nb::arg("lengths"), nb::arg("notes"))
      .def("close", &Comparison::Close);
}

}  // namespace vernier::python
