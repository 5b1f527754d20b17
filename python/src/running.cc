// vernier.run: a whole run of the libraries, whose outputs stay with the Python program.
#include "bindings.h"
#include "caller.h"
#include "cli/bind_model.h"
#include "cli/command_table.h"
#include "cli/commands/comparison_session.h"
#include "gil.h"
#include "option_words.h"
#include "own_thread.h"
#include "python_logger.h"
#include "report/run_reporter.h"
#include "run/executor.h"
#include "status_error.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

// What is asked beside the words.
struct RunSettings {
  bool keep = true;
  bool compare = true;
  std::vector<std::string> environment;
  std::string python;
};

RunSettings SettingsFrom(const nb::dict& said) {
  return {nb::cast<bool>(said["keep"]), nb::cast<bool>(said["compare"]),
          nb::cast<std::vector<std::string>>(said["environment"]),
          nb::cast<std::string>(said["python"])};
}

// The lines of a run, and what it made.
class Witness final : public RunObserver {
 public:
  Witness(Logger& logger, const RunPlan& plan, const RunSettings& settings, nb::object progress)
      : reporter_(logger, plan, true),
        keep_(settings.keep),
        compare_(settings.compare),
        progress_(std::move(progress)) {}

  ComparisonDetail DetailWanted() override { return reporter_.DetailWanted(); }
  void FeedMade(int64_t iteration, const TensorMap& feed) override {
    if (keep_ && static_cast<size_t>(iteration) == feeds.size()) feeds.push_back(FromMap(feed));
  }
  void OutputsMade(int64_t, const IterationResult& outputs) override {
    if (keep_) results.push_back(FromResult(outputs));
  }
  void ComparisonsStarted(std::span<const RunnerPair> pairs) override {
    reporter_.ComparisonsStarted(pairs);
  }
  void IterationStarted(int64_t iteration) override {
    if (compare_) reporter_.IterationStarted(iteration);
  }
  void PairCompared(const IterationComparison& comparison) override {
    reporter_.PairCompared(comparison);
  }
  void PairFinished(const RunnerPair& pair, const ComparisonTally& tally) override {
    reporter_.PairFinished(pair, tally);
  }
  void OutputValidated(const std::string& runner, int64_t iteration, const NamedTensor& output,
                       const Validation& validation) override {
    reporter_.OutputValidated(runner, iteration, output, validation);
  }
  void ValidationStarted(const std::vector<std::string>& runners) override {
    reporter_.ValidationStarted(runners);
  }
  void ValidationFinished(bool valid) override { reporter_.ValidationFinished(valid); }
  void Progress(int64_t done, int64_t total) override {
    if (progress_.is_none()) return;
    const GilAcquire gil;
    const nb::int_ so_far(done), all(total);
    Py_XDECREF(CallBack(progress_.ptr(), {so_far.ptr(), all.ptr()}, "vernier's progress"));
  }

  RunReporter& reporter() { return reporter_; }

  std::vector<NamedTensors> feeds;
  std::vector<IterationTuple> results;

 private:
  RunReporter reporter_;
  bool keep_, compare_;
  nb::object progress_;
};

struct RunAnswer {
  std::string record;  // JSON
  int exit_code = 0;
  std::vector<NamedTensors> feeds;
  std::vector<IterationTuple> results;  // in the order in which they were made
};

RunAnswer Execute(const RunPlan& plan, const Words& words, const CallerObjects& objects,
                  PythonLogger& logger, Witness& witness) {
  OwnThread thread;
  RunAnswer answer;
  thread.Do([&] {
    RunOutcome outcome = ExecuteRun(plan, logger, witness, thread.interrupted(), &objects);
    const bool well = !outcome.faults.any();
    for (const Status& status :
         {witness.reporter().SaveAccuracy(), witness.reporter().FinishPictures(well)}) {
      if (status.ok()) continue;
      logger.Critical(status.message());
      outcome.faults.Add(status);
    }
    CompleteRecord(outcome, plan, words.args, *FindCommand("run"), words.invocation);
    SaveRecordAndReports(plan.save, outcome.record, outcome.faults, logger);
    answer.exit_code = ExitCode(outcome.faults, false);
    outcome.record.exit_code = answer.exit_code;
    answer.record = ToJson(outcome.record);
  });
  answer.feeds = std::move(witness.feeds);
  answer.results = std::move(witness.results);
  return answer;
}

RunAnswer Run(std::vector<std::string> list, const nb::dict& said_caller, const nb::dict& said,
              nb::object log, int threshold, nb::object progress) {
  PythonLogger logger(std::move(log), threshold);
  const Caller caller = Caller::From(said_caller);
  const RunSettings settings = SettingsFrom(said);
  const Words words = Check(ParseWords("run", std::move(list)));
  RunPlan plan = Check(BindRun(words.args, words.invocation, logger));
  Check(CheckRun(plan));
  plan.execution.environment = settings.environment;
  if (plan.execution.python.empty()) plan.execution.python = settings.python;
  if (!settings.compare) plan.pairs = {PairRule::kNamed, {}};
  caller.JoinPlan(Check(BindModel(words.args)), plan);
  if (plan.runners.empty() && plan.load_outputs.empty()) {
    throw StatusError{InvalidArgument("runners: expected at least one")};
  }
  Witness witness(logger, plan, settings, std::move(progress));
  return Execute(plan, words, caller.Objects(settings.keep), logger, witness);
}

}  // namespace

void BindRun(nb::module_& module) {
  nb::class_<RunAnswer>(module, "RunAnswer")
      .def_ro("record", &RunAnswer::record)
      .def_ro("exit_code", &RunAnswer::exit_code)
      .def_ro("feeds", &RunAnswer::feeds)
      .def_ro("results", &RunAnswer::results);
  module.def("run", &Run, nb::arg("words"), nb::arg("caller"), nb::arg("settings"), nb::arg("log"),
             nb::arg("threshold"), nb::arg("progress").none());
}

}  // namespace vernier::python
