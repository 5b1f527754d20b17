// From a parsed command line to the plan of a run.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "options/table/command_words.h"
#include "options/words/arg_parser.h"
#include "report/text/console_log.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// How the program was called.
struct Invocation {
  std::string command;         ///< all words, for banners and records
  bool as_polygraphy = false;  ///< under Polygraphy's name: its warnings instead of our errors
  std::time_t now = 0;
  std::vector<std::string> words = {};  ///< the same, one by one
  bool feeds_given = false;             ///< the calling program makes them
  bool reads_model = false;             ///< the command itself takes the model, too
  bool record_is_batchs = false;        ///< `batch` has the record saved for itself: not shown
};

/// The folder of --output-dir; empty: not given.
std::string FolderOfResults(const ParsedArgs& args);

/// Where a file of results goes: into --output-dir, unless that is not given or `path` names a
/// folder itself. An empty path stays empty.
std::string InOutputFolder(const ParsedArgs& args, const std::string& path);

/// Verbosity, format and log file. kInvalidArgument for an unknown level.
Result<ConsoleLogOptions> BindLog(const ParsedArgs& args);

/// The plan, validated as far as that needs no file. kInvalidArgument, naming the flag, for what
/// cannot be used; kUnimplemented for flags whose feature is not there yet and that would change
/// what is compared; every other unsupported flag is a warning.
Result<RunPlan> BindRun(const ParsedArgs& args, const Invocation& invocation, Logger& logger);

/// What `convert` needs to build an engine at `output` from a model: a plan with one TensorRT
/// runner and where its calibration feeds come from. Errors as BindRun.
Result<RunPlan> BindEngineBuild(const ParsedArgs& args, const ModelPlan& model,
                                const std::string& output, Logger& logger);

/// The options of worker processes: --timeout, --python, --backend-dir. kInvalidArgument.
Status BindWorkers(const ParsedArgs& args, ExecutionPlan& execution);

/// What Polygraphy checks only once it has said that it runs: models are there, paths do not
/// overlap, options go together. kInvalidArgument.
Status CheckRun(const RunPlan& plan);

}  // namespace vernier
