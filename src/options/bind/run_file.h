// The file of a run: a RunPlan that --save-run-file wrote and --run-file carries out.
#pragma once

#include "options/words/arg_parser.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// The plan of --run-file. kInvalidArgument, naming the flag, where anything is given beside it
/// that the file decides: only what the log looks like is not, and --log-file, which may be none of
/// the plan's files. Else as ReadPlan().
Result<RunPlan> LoadRunFile(const ParsedArgs& args);

/// Writes the file of --save-run-file; nothing without it. kIo.
Status SaveRunFile(const ParsedArgs& args, const RunPlan& plan);

}  // namespace vernier
