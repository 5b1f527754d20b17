// --gen-script FILE|-.
#pragma once

#include <string>

#include "options/bind/bind_run.h"
#include "options/words/arg_parser.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Writes the script, or prints it where `path` is "-": the shell command for FILE.sh, Python for
/// any other name, against Polygraphy's API where that has all that is asked for, else against the
/// package vernier. An existing file is replaced only by a whole one, which can be executed.
/// kUnimplemented as WritePackageScript; kIo.
Status GenerateScript(const std::string& path, const RunPlan& plan, const ParsedArgs& args,
                      const Invocation& invocation, Logger& logger);

}  // namespace vernier
