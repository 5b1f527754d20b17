// Work that Python packages of the user do: the tools of libexec/vernier/tools.
#pragma once

#include "options/words/arg_parser.h"
#include "report/text/console_log.h"
#include "vernier/status.h"

namespace vernier {

/// Lets a tool do what the command line asks for. `command` is named in messages; `module` is
/// the file. kUnavailable where Python lacks a package; errors of the tool.
Status RunPythonTool(const char* command, const char* module, const ParsedArgs& args,
                     ConsoleLog& log);

}  // namespace vernier
