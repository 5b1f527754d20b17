#include "run/live/runner_opener.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "backend/known/known_backends.h"
#include "backend/known/python_program.h"
#include "model/onnx/model_type.h"
#include "run/feeds/feed_plan.h"
#include "run/lanes/shared_threads.h"
#include "run/runner/engine_use.h"
#include "run/runner/resolve_runner.h"
#include "run/steps/reset_words.h"

namespace vernier {
namespace {

// No package would open it. What a script calls a model need not be a file.
bool LacksFile(const RunnerPlan& runner) {
  const PythonRunner* const served = FindPythonRunner(runner.backend);
  std::error_code error;
  return served != nullptr && !served->module.empty() && !runner.model.path.empty() &&
         !std::filesystem::exists(runner.model.path, error);
}

}  // namespace

RunnerOpener::RunnerOpener(const RunPlan& plan, const std::atomic<int>& interrupted,
                           RunnerReports& reports, const Embedder* caller)
    : plan_(plan),
      interrupted_(interrupted),
      reports_(reports),
      pool_(plan.execution, interrupted, reports.logger(), caller,
            plan.lenient ? FrameworkWords::kPassedOn : FrameworkWords::kLogged),
      conversions_(pool_, reports.logger()),
      places_(plan.runners.size(), RunnerPlace::kAuto) {}

Result<std::shared_ptr<Worker>> RunnerOpener::WorkerAt(RunnerPlace place, RunnerPlan runner,
                                                       size_t copy) {
  runner.place = place;
  return pool_.Get(runner, copy);
}

Result<std::shared_ptr<Worker>> RunnerOpener::WorkerFor(size_t index, const RunnerPlan& runner,
                                                        size_t copy) {
  return WorkerAt(places_[index], runner, copy);
}

void RunnerOpener::Start(size_t index, RunnerSession& runner) {
  RunnerPlace place = runner.plan().place;
  if (place == RunnerPlace::kAuto && pool_.HasPluginToo(runner.plan())) {
    place = RunnerPlace::kPlugin;
  }
  Result<std::shared_ptr<Worker>> worker = WorkerAt(place, runner.plan());
  if (!worker.ok() && MayMoveToPython(runner)) {
    Result<std::shared_ptr<Worker>> python = WorkerAt(RunnerPlace::kPython, runner.plan());
    if (python.ok()) {
      worker = std::move(python);
      place = RunnerPlace::kPython;
    }
  }
  places_[index] = place;
  if (worker.ok()) {
    runner.Attach(*std::move(worker), index);
  } else {
    reports_.Fail(runner, worker.status());
  }
}

// TensorRT's plug-in fits one major version; what it refuses once it has loaded is refused.
bool RunnerOpener::MayMoveToPython(const RunnerSession& runner) const {
  return vernier::MayMoveToPython(runner.plan()) && runner.backend().framework_version.empty();
}

// A plug-in that is not vernier's says what it opens once it has been loaded.
Result<ModelPlan> RunnerOpener::ModelOf(const RunnerPlan& runner) {
  const std::optional<ModelType> type = ModelTypeFromName(runner.model.type);
  const bool may_convert = type && IsTensorFlowModel(*type);
  if (!may_convert || FindKnownBackend(runner.backend) != nullptr) {
    return conversions_.ModelOf(runner);
  }
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, pool_.Get(runner));
  VERNIER_ASSIGN_OR_RETURN(const BackendInfo backend, worker->AwaitLoad());
  RunnerPlan converted = runner;
  if (IsConvertedFor(backend.model_formats, *type)) ConvertToOnnx(converted);
  return conversions_.ModelOf(converted);
}

Result<ModelPlan> RunnerOpener::ModelAgain(const RunnerPlan& runner) {
  VERNIER_ASSIGN_OR_RETURN(ModelPlan model, ModelOf(runner));
  model.save_path.clear();
  model.print_summary = false;
  return model;
}

Result<std::shared_ptr<const ModelSource>> RunnerOpener::SourceOf(const ModelPlan& model,
                                                                  Logger& logger) {
  return ModelSource::Prepare(model, logger, [this] { return ScriptWorker(); });
}

MoreOptions RunnerOpener::OwnOptions(const RunnerPlan& runner) const {
  MoreOptions options;
  if (std::string method = ResetMethodOf(plan_.steps.resets, runner); !method.empty()) {
    options.meant.emplace_back(OptionMeaning::kResetMethod, std::move(method));
  }
  if (const std::optional<size_t> threads = SharedThreads(plan_)) {
    options.meant.emplace_back(OptionMeaning::kThreads, std::to_string(*threads));
  }
  return options;
}

Result<SessionParts> RunnerOpener::Prepare(const RunnerPlan& runner, const ModelPlan& model,
                                           const PythonFeeds& python, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const ModelSource> source, SourceOf(model, logger));
  VERNIER_ASSIGN_OR_RETURN(CalibrationFeeds calibration,
                           CalibrationFeeds::Make(plan_, runner, *source, python, logger));
  MoreOptions options = OwnOptions(runner);
  options.named = calibration.options();
  if (std::string shapes = ListedFeedShapes(plan_, source->request().inputs);
      plan_.execution.batch_feeds <= 1 && !shapes.empty()) {
    options.meant.emplace_back(OptionMeaning::kFeedShapes, std::move(shapes));
  }
  return SessionParts{std::move(source), std::move(calibration), std::move(options)};
}

Status RunnerOpener::Open(size_t index, RunnerSession& runner, const ModelPlan& model,
                          const PythonFeeds& python, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const SessionParts parts, Prepare(runner.plan(), model, python, logger));
  VERNIER_TRY(CheckRandomNumbers(runner, *parts.model));
  Status status = CheckPlugin(runner, model);
  if (status.ok()) {
    status = runner.Open(*parts.model, parts.options, plan_.inputs.found_dims);
  }
  if (status.ok()) status = CheckReset(runner);
  const bool has_both =
      runner.plan().place == RunnerPlace::kAuto && pool_.HasPluginToo(runner.plan());
  const bool may_try_python = has_both || MayMoveToPython(runner);
  if (!status.ok() && may_try_python && !interrupted_) {
    status = OpenInPython(index, runner, *parts.model, status);
  }
  if (status.code() == StatusCode::kUnavailable && LacksFile(runner.plan())) {
    status = Malformed("'" + runner.plan().model.path + "' does not exist");
  }
  switch (status.code()) {
    case StatusCode::kOk:
      if (plan_.execution.hash_inputs) runner.HashInputs();
      return {};
    case StatusCode::kInvalidArgument:
      // Other options name their runner themselves.
      return status.message().starts_with("--reset ")
                 ? InvalidArgument(runner.name() + " | " + status.message())
                 : status;
    case StatusCode::kCancelled:
      return status;
    default:
      reports_.Fail(runner, status);
      return {};
  }
}

// A plug-in that does not fit this machine or this model leaves it to the user's Python.
Status RunnerOpener::OpenInPython(size_t index, RunnerSession& runner, const ModelSource& model,
                                  const Status& why_not_plugin) {
  reports_.logger().Verbose(PadName(runner.name()) +
                            " | the plug-in is not used: " + why_not_plugin.message());
  (void)runner.Close();
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker,
                           WorkerAt(RunnerPlace::kPython, runner.plan()));
  places_[index] = RunnerPlace::kPython;
  runner.Attach(std::move(worker), index);
  const Status status = runner.Open(model, OwnOptions(runner.plan()), plan_.inputs.found_dims);
  if (status.code() != StatusCode::kUnavailable) return status;
  // A wrong word of the user's is wrong there, too.
  if (why_not_plugin.code() == StatusCode::kInvalidArgument) return why_not_plugin;
  if (!IsPythonBackend(runner.plan().backend)) {
    // Where it is missing altogether, its plug-in says what it looked for.
    return runner.backend().framework_version.empty() ? why_not_plugin : status;
  }
  return Unavailable(status.message() +
                     "\nNote: its plug-in cannot be used either: " + why_not_plugin.message());
}

// What is known of vernier's own backends before anything is loaded, others say once they are.
Status RunnerOpener::CheckPlugin(RunnerSession& runner, const ModelPlan& model) const {
  const RunnerPlan& plan = runner.plan();
  if (FindKnownBackend(plan.backend) != nullptr) return {};
  VERNIER_TRY(runner.AwaitBackend());
  const BackendInfo& backend = runner.backend();
  VERNIER_TRY(CheckFormat(model, backend.model_formats));
  return backend.Has(BackendTrait::kBuildsEngines) ? CheckOneEngine(plan_, plan) : Status();
}

// A plug-in without such an option would go on without a word.
Status RunnerOpener::CheckReset(const RunnerSession& runner) const {
  const std::string method = ResetMethodOf(plan_.steps.resets, runner.plan());
  const bool has_option = runner.backend().OptionThatMeans(OptionMeaning::kResetMethod) != nullptr;
  if (method.empty() || has_option) return {};
  return InvalidArgument("--reset " + method + ": the plug-in of '" + runner.name() +
                         "' has no option for a method; name a runner that has methods, as in "
                         "--reset RUNNER:METHOD");
}

// Of nodes with a seed, too.
Status RunnerOpener::CheckRandomNumbers(const RunnerSession& runner, const ModelSource& model) {
  if (model.random_operator().empty()) return {};
  random_numbers_ = runner.name() + ": its model draws random numbers (" + model.random_operator() +
                    "), and runtimes go on drawing from one inference to the next";
  const std::string note = random_numbers_ +
                           ": with --shard, --workers-per-runner and --devices the outputs differ "
                           "from those of one process";
  reports_.NoteOnce(note);
  const bool shared = plan_.shard.wanted() || plan_.execution.WorkersOfRunner() > 1;
  return shared ? InvalidArgument(note + ": leave them out") : Status();
}

}  // namespace vernier
