// A Python script for the package `vernier`, from a command line.
#pragma once

#include <string>

#include "options/bind/bind_run.h"
#include "options/words/arg_parser.h"
#include "vernier/status.h"

namespace vernier {

/// A script that calls vernier.run with what the command line says, in the folder where it was
/// given, prints the summary and ends with its exit code. kUnimplemented for what the package does
/// not take: programs as runners, options of plug-ins without flags, what the program alone does
/// (--blame, --resume), and words that are not UTF-8. `args` were bound to a plan before.
Result<std::string> WritePackageScript(const ParsedArgs& args, const Invocation& invocation);

}  // namespace vernier
