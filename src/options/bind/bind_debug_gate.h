// --decision and its gates on a debugging command: the check is then a run that they judge.
#pragma once

#include "options/bind/bind_debug.h"
#include "options/words/arg_parser.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// Adds the decisions and gates of the command line to the options of `run` that are the check, and
/// makes it rest on decisions alone. Without such options the check is a run under ONNX Runtime
/// with the command's inputs; random ones are warned of. kInvalidArgument for decisions without a
/// gate, here or among the options of `run`, and beside --check.
Status AddDecisionGate(const ParsedArgs& args, Logger& log, CheckWords& check);

}  // namespace vernier
