#include "options/bind/bind_run.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "inputs/dim_sizes.h"
#include "inputs/shape_grid.h"
#include "inputs/shape_spec.h"
#include "options/bind/bind_blame.h"
#include "options/bind/bind_compare.h"
#include "options/bind/bind_runners.h"
#include "options/bind/bind_shard.h"
#include "options/bind/bind_tensorflow.h"
#include "options/bind/bind_tensorrt.h"
#include "options/bind/default_files.h"
#include "options/table/given_field.h"
#include "options/table/saved_sides.h"
#include "run/runner/engine_use.h"
#include "run/runner/resolve_runner.h"
#include "vernier/compare_options.h"
#include "vernier/session.h"

namespace vernier {
namespace {

// Who says what shapes the feeds of a run have: vernier, which draws them, or a file, a script or
// the calling program, which has them.
enum class FeedsFrom : uint8_t { kDrawn, kElsewhere };

// Fills plan.inputs.dims with those of --dim and of the plan's runners, which all have the same
// feeds, and gives them to the runners. kInvalidArgument for one name with two sizes.
Status BindDims(const ParsedArgs& args, FeedsFrom from, RunPlan& plan, Logger& logger) {
  std::vector<std::string> words = ReadField<&FeedWords::dims>(args);
  for (const RunnerPlan& runner : plan.runners) {
    for (const DimSize& own : runner.dims) {
      words.push_back(own.dimension + "=" + std::to_string(own.size));
    }
  }
  VERNIER_ASSIGN_OR_RETURN(plan.inputs.dims, ParseDimSizes(words));
  for (RunnerPlan& runner : plan.runners) {
    runner.dims = plan.inputs.dims;
    runner.equal_names = !plan.lenient;
  }
  if (!words.empty() && from == FeedsFrom::kElsewhere) {
    logger.Warning(
        "--dim has no effect: inputs that are loaded or made by a script have their own shapes");
  }
  return {};
}

// Environment variables of Polygraphy that mean nothing here.
struct PolygraphyVariable {
  const char* name;
  std::string_view instead;
};
constexpr PolygraphyVariable kPolygraphyVariables[] = {
    {"POLYGRAPHY_AUTOINSTALL_DEPS", "nothing is ever installed at run time"},
    {"POLYGRAPHY_ASK_BEFORE_INSTALL", "nothing is ever installed at run time"},
    {"POLYGRAPHY_INSTALL_CMD", "nothing is ever installed at run time"},
    {"POLYGRAPHY_ARRAY_SWAP_THRESHOLD_MB", "memory does not grow with the iterations anyway"},
    {"POLYGRAPHY_USE_TENSORRT_RTX", "TensorRT for RTX is not supported; --trt runs TensorRT"},
    {"POLYGRAPHY_INTERNAL_CORRECTNESS_CHECKS", "the tests do that"},
};

bool IsThere(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Status CheckBackendDirs(const ExecutionPlan& execution) {
  for (const std::string& folder : execution.backend_dirs) {
    if (IsThere(folder)) continue;
    return InvalidArgument("--backend-dir: there is no folder '" + folder + "'");
  }
  return {};
}

// What needs no Python goes on without it.
void WarnOfMissingPython(const std::string& path, Logger& logger) {
  if (path.find('/') == std::string::npos || IsThere(path)) return;
  logger.Warning("--python: there is no file '" + path + "', so nothing written in Python can run");
}

// A flag that does nothing here must not pass in silence.
void WarnOfIdleFlags(const ParsedArgs& args, Logger& logger) {
  std::vector<std::string_view> warned;
  for (const GivenOption& given : args.given()) {
    const OptionRow& row = *given.row;
    const bool idle = row.standing == Standing::kRefused;
    // Runners are reported when they cannot be opened.
    if (!idle || row.action == OptionAction::kRunner ||
        std::find(warned.begin(), warned.end(), row.dest) != warned.end()) {
      continue;
    }
    warned.push_back(row.dest);
    logger.Warning(std::string(given.flag) + " has no effect" +
                   (row.note.empty() ? "" : ": " + std::string(row.note)));
  }
  for (const PolygraphyVariable& variable : kPolygraphyVariables) {
    if (std::getenv(variable.name) == nullptr) continue;
    logger.Warning("the environment variable " + std::string(variable.name) +
                   " has no effect: " + std::string(variable.instead));
  }
}

// Words that make no sense end the run here, before any framework loads. Each set of shapes gets an
// iteration. Polygraphy takes the last shape of an input.
Status BindShapes(const ParsedArgs& args, const RunPlan& plan, FeedsFrom from, InputPlan& inputs,
                  Logger& logger) {
  const std::vector<std::string> words = ReadField<&FeedWords::shapes>(args);
  if (plan.lenient) {
    inputs.shape_words = words;
    return ParseShapeSpecs(words, Strictness::kPolygraphy).status();
  }
  VERNIER_ASSIGN_OR_RETURN(inputs.shape_words, ShapesInTurn(words));
  VERNIER_ASSIGN_OR_RETURN(const int64_t sets, CountShapeSets(inputs.shape_words));
  if (words.empty()) return {};
  if (from == FeedsFrom::kElsewhere) {
    const bool for_engine =
        std::any_of(plan.runners.begin(), plan.runners.end(),
                    [](const RunnerPlan& runner) { return BuildsEngines(runner.backend); });
    const std::string flag(FlagOf<&FeedWords::shapes>(args));
    if (!plan.steps.feed_back.empty()) {
      logger.Info(flag +
                  ": for first states that are not given; inputs that are loaded or made by "
                  "a script have their own shapes");
    } else if (!for_engine) {
      logger.Warning(flag +
                     " has no effect: inputs that are loaded or made by a script have their own "
                     "shapes");
    }
    return {};
  }
  if (!inputs.iterations && sets > 1) inputs.iterations = sets;
  if (sets == 1 || *inputs.iterations >= sets) return {};
  return InvalidArgument(std::string(FlagOf<&InputPlan::iterations>(args)) +
                         ": expected a number >= " + std::to_string(sets) +
                         ", for as many sets of shapes as " +
                         std::string(FlagOf<&FeedWords::shapes>(args)) + " gives, got '" +
                         std::to_string(*inputs.iterations) + "'");
}

// The options of the inputs together, once each of them is bound.
Status BindInputs(const ParsedArgs& args, bool feeds_given, RunPlan& plan, Logger& logger) {
  InputPlan& inputs = plan.inputs;
  if (!inputs.like.empty() && inputs.torch_numbers) {
    return InvalidArgument("--like draws by itself: leave --data-loader-backend-module torch out");
  }
  const std::optional<std::string> function = ReadField<&FeedWords::function>(args);
  if (function && inputs.script.given()) inputs.script.function = *function;
  const bool drawn = inputs.load_paths.empty() && !inputs.script.given() && !feeds_given;
  const FeedsFrom from = drawn ? FeedsFrom::kDrawn : FeedsFrom::kElsewhere;
  VERNIER_TRY(BindShapes(args, plan, from, inputs, logger));
  VERNIER_TRY(BindDims(args, from, plan, logger));
  if (drawn) {
    if (inputs.iterations == 0 && !plan.lenient) {
      logger.Warning(std::string(FlagOf<&InputPlan::iterations>(args)) +
                     " 0: nothing is run, so nothing is compared and no output is saved");
    }
    return {};
  }
  for (const std::string_view dest : {"seed", "val_range", "iterations"}) {
    // A shard has to know how many feeds a generator gives.
    const bool divides =
        dest == "iterations" && inputs.script.given() && IsGiven<&ShardWords::shard>(args);
    if (!args.Has(dest) || divides) continue;
    logger.Warning("Argument: '" + std::string(args.Flag(dest)) +
                   "' will be ignored since a custom data loader was provided.\n"
                   "This argument is only valid when using the default data loader.");
  }
  return {};
}

// What is saved although no path was given for it.
void BindSaving(const ParsedArgs& args, SavePlan& save) {
  if (ReadWords<MarkWords>(args).keeps() && save.outputs.empty())
    save.outputs = InOutputFolder(args, "outputs.json");
  if (FolderOfResults(args).empty()) return;
  if (save.record.empty()) save.record = InOutputFolder(args, kDefaultRecord);
  if (save.reports.empty()) {
    save.reports.push_back({InOutputFolder(args, kDefaultReport), ReportFormat::kHtml});
  }
}

void BindScripts(const ParsedArgs& args, RunPlan& plan, Logger& logger) {
  if (plan.compare_script.given()) plan.compare->functions = {CompareFunction::kScript};
  if (plan.postprocess_script.given() && IsGiven<&RunPlan::postprocess>(args)) {
    logger.Warning(
        "Argument: '--postprocess/--postprocess-func' will be ignored since "
        "'--postprocess-func-script' was provided.");
  }
}

// Those of --load-outputs, then those of --compare-outputs.
void AddSavedSides(const ParsedArgs& args, RunPlan& plan) {
  const GivenOption* const compared = FindGiven<&RunPlan::comparison_asked>(args);
  for (const std::string& word : ReadField<&SavedSideWords::loaded>(args)) AddSavedSide(word, plan);
  if (compared == nullptr) return;
  for (const std::string& word : compared->values) AddSavedSide(word, plan);
}

// The options that mean something by themselves.
Status BindSingly(const ParsedArgs& args, RunPlan& plan, Logger& logger) {
  return BindOptions(args, {plan.lenient, FolderOfResults(args), &logger},
                     {plan, plan.inputs, plan.steps, plan.save, plan.pictures, plan.execution,
                      *plan.compare, plan.decisions});
}

}  // namespace

std::string FolderOfResults(const ParsedArgs& args) { return ReadField<&ResultFolder::path>(args); }

std::string InOutputFolder(const ParsedArgs& args, const std::string& path) {
  return InFolder(FolderOfResults(args), path);
}

Status BindWorkers(const ParsedArgs& args, ExecutionPlan& execution) {
  VERNIER_TRY(BindOptions(args, {}, {execution}));
  return CheckBackendDirs(execution);
}

Result<RunPlan> BindRun(const ParsedArgs& args, const Invocation& invocation, Logger& logger) {
  RunPlan plan;
  plan.command = invocation.command;
  plan.lenient = invocation.as_polygraphy || ReadField<&Leniency::lenient>(args);
  VERNIER_TRY(BindRunners(args, invocation.now, plan, logger));
  if (!plan.lenient && !invocation.reads_model) VERNIER_TRY(CheckModelIsUsed(args));
  for (RunnerPlan& runner : plan.runners) {
    runner.model.fp16_clamps = runner.model.skips_unknown_types = plan.lenient;
  }
  VERNIER_TRY(BindSingly(args, plan, logger));
  VERNIER_TRY(CheckBackendDirs(plan.execution));
  WarnOfMissingPython(plan.execution.python, logger);
  VERNIER_TRY(BindInputs(args, invocation.feeds_given, plan, logger));
  VERNIER_TRY(BindCompare(args, plan, logger));
  AddSavedSides(args, plan);
  // Of saved outputs alone, one side is nothing to judge.
  const bool judged = plan.strict || plan.same_type || IsGiven<&RunPlan::pairs>(args) ||
                      IsGiven<&CompareOptions::tolerance>(args);
  plan.comparison_asked |= plan.runners.empty() && judged;
  BindScripts(args, plan, logger);
  BindSaving(args, plan.save);
  plan.execution.hash_inputs = logger.Enabled(Severity::kExtraVerbose) ||
                               !plan.save.record.empty() || !plan.save.reports.empty();
  VERNIER_TRY(BindShard(args, plan, logger));
  if (ReadField<&RunCall::blames>(args)) {
    VERNIER_ASSIGN_OR_RETURN(plan.blame, BindBlame(args, plan));
  }
  WarnOfIdleFlags(args, logger);
  return plan;
}

Result<RunPlan> BindEngineBuild(const ParsedArgs& args, const ModelPlan& model,
                                const std::string& output, Logger& logger) {
  RunPlan plan;
  RunnerPlan runner;
  runner.name = "trt";
  runner.backend = "tensorrt";
  runner.model = model;
  VERNIER_TRY(BindTensorRt(args, runner, logger));
  ServeInPython(runner);
  if (const std::optional<ModelType> type = ModelTypeFromName(model.type)) {
    GiveModelToTensorRt(*type, SplitModelPath(ReadField<&ModelPlan::path>(args)).extra, runner);
  }
  runner.session_options.emplace_back("save_engine", output);
  plan.runners.push_back(std::move(runner));
  VERNIER_TRY(BindOptions(args, {.log = &logger}, {plan.inputs, plan.execution}));
  VERNIER_TRY(BindInputs(args, false, plan, logger));
  return plan;
}

Status CheckRun(const RunPlan& plan) {
  VERNIER_TRY(CheckAverageFlags(plan.compare));
  VERNIER_TRY(CheckLabels(plan));
  return ValidatePlan(plan);
}

}  // namespace vernier
