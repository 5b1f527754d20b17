// vernier.run: a whole run of the libraries, whose outputs stay with the Python program.
#include "bindings.h"
#include "caller.h"
#include "gil.h"
#include "option_words.h"
#include "options/bind/bind_model.h"
#include "options/bind/describe_origin.h"
#include "options/table/command_options.h"
#include "own_thread.h"
#include "python_logger.h"
#include "session/run/run_session.h"
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

struct RunAnswer {
  std::string record;  // JSON
  int exit_code = 0;
  std::vector<NamedTensors> feeds;
  std::vector<IterationTuple> results;  // in the order in which they were made
};

// What the Python program keeps and observes of a run, which goes on in another thread.
SessionEvents EventsFor(const RunSettings& settings, const nb::object& progress,
                        RunAnswer& answer) {
  SessionEvents events;
  if (settings.keep) {
    events.feed_made = [&](int64_t iteration, const TensorMap& feed) {
      if (static_cast<size_t>(iteration) != answer.feeds.size()) return;
      answer.feeds.push_back(FromMap(feed));
    };
    events.outputs_made = [&](int64_t, const IterationResult& outputs) {
      answer.results.push_back(FromResult(outputs));
    };
  }
  if (!progress.is_none()) {
    events.progress = [&](int64_t done, int64_t total) {
      const GilAcquire gil;
      const nb::int_ so_far(done), all(total);
      Py_XDECREF(CallBack(progress.ptr(), {so_far.ptr(), all.ptr()}, "vernier's progress"));
    };
  }
  return events;
}

RunAnswer Run(const CallOptions& options, const nb::dict& said_caller, const nb::dict& said,
              nb::object log, int threshold, nb::object progress) {
  PythonLogger logger(std::move(log), threshold);
  const Caller caller = Caller::From(said_caller);
  const RunSettings settings = SettingsFrom(said);
  Words words = Check(ReadOptions("run", options, logger, caller.runners.size()));
  words.invocation.feeds_given = caller.feeds.given();
  Check(caller.CheckOptions(words.args, "compare_func"));
  RunPlan plan = Check(BindRun(words.args, words.invocation, logger));
  Check(CheckRun(plan));
  AddBefore(settings.environment, plan.execution.environment);
  if (plan.execution.python.empty()) plan.execution.python = settings.python;
  if (!settings.compare) plan.pairs = {PairRule::kNamed, {}};
  caller.JoinPlan(Check(BindModel(words.args)), plan);
  if (plan.runners.empty() && plan.load_outputs.empty()) {
    throw StatusError{InvalidArgument("runners: expected at least one")};
  }
  const Embedder objects = caller.Objects(settings.keep);
  RunAnswer answer;
  OwnThread thread;
  SessionContext context{logger, thread.interrupted()};
  context.origin = DescribeOrigin(words.args, RunOptionTable(), words.invocation);
  context.events = EventsFor(settings, progress, answer);
  context.caller = &objects;
  thread.Do([&] {
    const RunOutcome outcome = CarryOutRun(plan, context);
    answer.exit_code = outcome.record.exit_code;
    answer.record = ToJson(outcome.record);
  });
  return answer;
}

}  // namespace

void BindRun(nb::module_& module) {
  nb::class_<RunAnswer>(module, "RunAnswer")
      .def_ro("record", &RunAnswer::record)
      .def_ro("exit_code", &RunAnswer::exit_code)
      .def_ro("feeds", &RunAnswer::feeds)
      .def_ro("results", &RunAnswer::results);
  module.def("run", &Run, nb::arg("options"), nb::arg("caller"), nb::arg("settings"),
             nb::arg("log"), nb::arg("threshold"), nb::arg("progress").none());
}

}  // namespace vernier::python
