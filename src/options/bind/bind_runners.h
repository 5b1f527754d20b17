// From runner flags to runners with their backend, options and model.
#pragma once

#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "options/words/arg_parser.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Fills plan.runners in the order of the command line. `now` is the time that names of runners
/// carry. kInvalidArgument when a runner has no model, or --runner cannot be read or names a
/// backend that is not there; kUnimplemented for runner flags without a backend of ours yet.
Status BindRunners(const ParsedArgs& args, std::time_t now, RunPlan& plan, Logger& logger);

/// What --runner says.
struct LabelledRunner {
  std::string label;
  std::string backend;             ///< or SCRIPT.py, or a program
  std::vector<std::string> words;  ///< its model and options
};

/// `LABEL='BACKEND [MODEL] [OPTIONS]'` in its parts. kInvalidArgument for anything else.
Result<LabelledRunner> SplitRunner(const std::string& text);

/// Visits the options within each --runner of the command line, as `visit(flag, given)`, with the
/// flag as messages name it: "--runner a: --fp16". Values that cannot be read have none here:
/// BindRunners() refuses them.
void ForEachOptionOfRunners(
    const ParsedArgs& args,
    const std::function<void(const std::string& flag, const GivenOption& given)>& visit);

/// kInvalidArgument for a model that no runner takes, as a stray word behind an option of one value
/// is taken for.
Status CheckModelIsUsed(const ParsedArgs& args);

/// The words of a command line that select a runner's backend and its options, apart from its
/// model:
/// {"--openvino", "--openvino-precision", "bf16"}. Paths are absolute. Options that no flag of one
/// value sets are left out.
std::vector<std::string> RunnerWords(const RunnerPlan& runner);

}  // namespace vernier
